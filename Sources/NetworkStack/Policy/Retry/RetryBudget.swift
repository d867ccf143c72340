extension Retry {
    /// How many retries each host is granted, in proportion to its requests.
    ///
    /// When a server struggles, retries multiply its load just then. With a budget they stay a fraction of the requests,
    /// however many fetches fail: each first attempt pays in `ratio`, each retry costs one. Share one budget among all
    /// policies that go to the same hosts; hosts do not share with each other.
    ///
    /// A retry that is granted is set aside until it is sent, and paid for then. One that is not sent, because of a cancel
    /// or another interceptor's vote, is granted to others ten seconds after its time.
    public final class Budget: Sendable {
        private struct Account {
            var balance: Double
            /// Until when the retries that were granted, and not sent yet, are set aside.
            var granted: [ContinuousClock.Instant] = []
            /// Larger for who was dealt with later.
            var turn: UInt64 = 0
        }

        private struct Ledger {
            var accounts: [HTTP.Origin: Account] = [:]
            var turn: UInt64 = 0
        }

        private let ledger = Lock(Ledger())
        private let ratio: Double
        private let reserve: Double

        /// Hosts that are remembered; beyond it, those that were not heard of for the longest time are forgotten.
        static let hostLimit = 1024
        /// How long after its time a retry that is not sent is set aside.
        private static let patience = Duration.seconds(10)

        /// Makes a budget.
        ///
        /// - Parameters:
        ///   - ratio: Retries granted per request. From 0 to 1; values outside count as the nearer end.
        ///   - reserve: Retries a host is granted before it has seen any request, and ten times this is the most it can
        ///     save up, or what ten requests pay in, if that is more. At least 0; what is less counts as that.
        public init(ratio: Double = 0.2, reserve: Int = 10) {
            self.ratio = min(max(ratio.isNaN ? 0 : ratio, 0), 1)
            self.reserve = Double(max(reserve, 0))
        }

        /// The retries a host is granted right now.
        ///
        /// - Parameter origin: The host.
        /// - Returns: The retries; whole ones can be spent.
        public func balance(of origin: HTTP.Origin) -> Double {
            let now = ContinuousClock.now
            return ledger.withLock { ledger in
                guard let account = ledger.accounts[origin] else { return reserve }
                return account.balance - Double(account.granted.count { $0 > now })
            }
        }

        /// A first attempt goes to a host.
        func deposit(for origin: HTTP.Origin) {
            // Ten times the reserve, or what ten requests pay in where there is none.
            change(origin) { $0.balance = min($0.balance + ratio, max(10 * reserve, 10 * ratio)) }
        }

        /// A retry is wanted.
        ///
        /// - Parameters:
        ///   - origin: Where it is to go.
        ///   - delay: When, in seconds from now on; not below zero.
        ///   - now: The time.
        /// - Returns: Whether it is granted.
        func grant(to origin: HTTP.Origin, after delay: Retry.Delay = 0, now: ContinuousClock.Instant = .now) -> Bool {
            change(origin) { account in
                account.granted.removeAll { $0 <= now }
                guard account.balance - Double(account.granted.count) >= 1 else { return false }
                // Nobody waits longer than thirty years.
                account.granted.append(now + .seconds(min(delay, 1e9)) + Self.patience)
                return true
            }
        }

        /// A retry goes to a host. One that was not granted here costs nothing.
        func pay(for origin: HTTP.Origin) {
            change(origin) { account in
                guard !account.granted.isEmpty else { return }
                account.granted.removeFirst()
                account.balance -= 1
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

    /// A retry was wanted, and the host's budget is spent. The fetch ends with it, as ``Error/custom(_:)`` of
    /// ``HTTPFetchError/retry(_:_:)``.
    public struct BudgetExhausted: Swift.Error, Hashable, CustomStringConvertible {
        /// The host.
        public let origin: HTTP.Origin

        /// Makes the error, for tests of who is to handle it.
        ///
        /// - Parameter origin: The host.
        public init(origin: HTTP.Origin) { self.origin = origin }

        /// What happened.
        public var description: String { "The retries granted to \(origin) are spent." }
    }
}
