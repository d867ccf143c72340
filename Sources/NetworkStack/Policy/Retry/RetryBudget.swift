internal import FoundationEssentials

extension Retry {
    /// Limits the retries to each host in proportion to its requests.
    ///
    /// When a server is overloaded, retries multiply its load. With a budget they stay a fraction of the requests, however many
    /// fetches fail: each first attempt adds `ratio`, each retry subtracts one. Share one budget among all policies for the same
    /// hosts. Each host has a separate balance.
    ///
    /// A granted retry is charged to the balance at once, even if a cancel or another interceptor's vote prevents it.
    public final class Budget: Sendable {
        private struct Account {
            var balance: Double
            /// Larger for hosts that were used later.
            var turn: UInt64 = 0
        }

        private struct Ledger {
            var accounts: [HTTP.Origin: Account] = [:]
            var turn: UInt64 = 0
        }

        private let ledger = Lock(Ledger())
        private let ratio: Double
        private let reserve: Double

        /// The most hosts; beyond it, those that were not used for the longest time are forgotten.
        static let hostLimit = 1024

        /// Makes a budget.
        ///
        /// - Parameters:
        ///   - ratio: Retries per request, from 0 to 1. Other values are limited to that range.
        ///   - reserve: Retries of a host before its first request; at least 0. The balance is at most ten times this, or what
        ///     ten requests add, if that is more.
        public init(ratio: Double = 0.2, reserve: Int = 10) {
            self.ratio = min(max(ratio.isNaN ? 0 : ratio, 0), 1)
            self.reserve = Double(max(reserve, 0))
        }

        /// Returns the current number of retries for a host.
        ///
        /// - Parameter origin: The host.
        /// - Returns: The retries; only whole ones can be used.
        public func balance(of origin: HTTP.Origin) -> Double {
            ledger.withLock { $0.accounts[origin]?.balance ?? reserve }
        }

        /// A first attempt is sent to a host.
        func deposit(for origin: HTTP.Origin) {
            // At most ten times the reserve, or what ten requests add without one.
            change(origin) { $0.balance = min($0.balance + ratio, max(10 * reserve, 10 * ratio)) }
        }

        /// Takes a retry; returns whether there was one.
        func withdraw(from origin: HTTP.Origin) -> Bool {
            change(origin) { account in
                guard account.balance >= 1 else { return false }
                account.balance -= 1
                return true
            }
        }

        private func change<Answer>(_ origin: HTTP.Origin, _ body: (inout Account) -> Answer) -> Answer {
            ledger.withLock { ledger in
                ledger.turn += 1
                var account = ledger.accounts.removeValue(forKey: origin) ?? Account(balance: reserve)
                account.turn = ledger.turn
                if ledger.accounts.count >= Self.hostLimit {
                    let kept = ledger.accounts.sorted { $0.value.turn > $1.value.turn }.prefix(Self.hostLimit * 3 / 4)
                    ledger.accounts = Dictionary(kept.map { ($0.key, $0.value) }) { first, _ in first }
                }
                defer { ledger.accounts[origin] = account }
                return body(&account)
            }
        }
    }

    /// The host's budget has no retry left. The fetch ends with it, as ``Error/custom(_:)`` of ``HTTPFetchError/retry(_:_:)``.
    public struct BudgetExhausted: DescribedError, Hashable {
        /// The host.
        public let origin: HTTP.Origin

        /// Makes the error, for tests.
        ///
        /// - Parameter origin: The host.
        public init(origin: HTTP.Origin) { self.origin = origin }

        /// The failure, in a sentence.
        public var description: String { "The retries granted to \(origin) are spent." }
    }
}
