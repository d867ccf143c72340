public import FoundationEssentials

extension Retry {
    /// How many retries each host is granted, in proportion to its requests.
    ///
    /// When a server struggles, retries multiply its load just then. With a budget they stay a fraction of the requests,
    /// however many fetches fail: each first attempt pays in `ratio`, each retry costs one. Share one budget among all
    /// policies that go to the same hosts; hosts do not share with each other.
    public final class Budget: Sendable {
        private let balances = Lock<[HTTP.Origin: Double]>([:])
        private let ratio: Double
        private let reserve: Double

        /// Hosts that are remembered; beyond it, those with nothing spent are forgotten first.
        private static let hostLimit = 1024

        /// Makes a budget.
        ///
        /// - Parameters:
        ///   - ratio: Retries granted per request. From 0 to 1; values outside count as the nearer end.
        ///   - reserve: Retries a host is granted before it has seen any request, and ten times this is the most it can
        ///     save up. At least 0.
        public init(ratio: Double = 0.2, reserve: Int = 10) {
            self.ratio = min(max(ratio.isNaN ? 0 : ratio, 0), 1)
            self.reserve = Double(max(reserve, 0))
        }

        /// The retries a host is granted right now.
        ///
        /// - Parameter origin: The host.
        /// - Returns: The retries; whole ones can be spent.
        public func balance(of origin: HTTP.Origin) -> Double {
            balances.withLock { $0[origin] ?? reserve }
        }

        /// A first attempt goes to a host.
        func deposit(for origin: HTTP.Origin) {
            balances.withLock { balances in
                guard let balance = Self.entry(for: origin, in: &balances, reserve: reserve) else { return }
                // Ten times the reserve, or what ten requests pay in where there is none.
                balances[origin] = min(balance + ratio, max(10 * reserve, 10 * ratio))
            }
        }

        /// A retry is to go to a host.
        ///
        /// - Returns: Whether it is granted; it is paid for then.
        func withdraw(for origin: HTTP.Origin) -> Bool {
            balances.withLock { balances in
                guard let balance = Self.entry(for: origin, in: &balances, reserve: reserve), balance >= 1 else {
                    return false
                }
                balances[origin] = balance - 1
                return true
            }
        }

        /// The balance of a host, or `nil` if there is no room to remember it: then nothing is granted.
        private static func entry(
            for origin: HTTP.Origin,
            in balances: inout [HTTP.Origin: Double],
            reserve: Double
        ) -> Double? {
            if let balance = balances[origin] { return balance }
            if balances.count >= hostLimit { balances = balances.filter { $0.value < reserve } }
            return balances.count < hostLimit ? reserve : nil
        }
    }

    /// A retry was wanted, and the host's budget is spent.
    public struct BudgetExhausted: Swift.Error, Hashable, CustomStringConvertible {
        /// The host.
        public let origin: HTTP.Origin

        /// What happened.
        public var description: String { "The retries granted to \(origin) are spent." }
    }

    /// A policy whose retries are paid for from a budget. Made by ``Policy/within(_:)``.
    public struct BudgetedPolicy<Metadata: HTTPRetryMetadata>: HTTPResourceInterceptor {
        /// The request of the stack.
        public typealias Request = Metadata.Request
        /// The response of the stack.
        public typealias Response = Metadata.Response

        let policy: Policy<Metadata>
        let budget: Budget

        /// Content is none of its business.
        public var interceptsContent: Bool { false }

        /// Pays a first attempt's share in.
        public func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: State) {
            guard retryState.errors.isEmpty, let origin = Self.origin(of: request) else { return }
            budget.deposit(for: origin)
        }

        /// Votes as the policy does, and against a retry that the budget does not grant.
        public func interceptFailedTask(
            withIdentifier identifier: Int,
            request: Request?,
            data: Data?,
            response: Response?,
            error: any Swift.Error,
            retryState: State
        ) -> Action {
            let metadata = Metadata(request: request, payload: data, response: response)
            let action = policy.shouldRetry(with: error, state: retryState, metadata: metadata)
            switch action {
            case .none, .noRetry: return action
            case .retry, .retryAfter:
                // What could not be made reached nobody, and costs nobody anything.
                guard let request, let origin = Self.origin(of: request) else { return action }
                return budget.withdraw(for: origin) ? action : .noRetry(.custom(BudgetExhausted(origin: origin)))
            }
        }

        private static func origin(of request: Request) -> HTTP.Origin? {
            (try? request.httpRequest()).flatMap { try? HTTP.Origin(of: $0.url) }
        }
    }
}

extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// The same policy, its retries paid for from a budget per host.
    ///
    /// - Parameter budget: The budget, shared with whom you like.
    /// - Returns: The interceptor: a retry beyond the budget ends the fetch with ``Retry/BudgetExhausted``.
    public func within(_ budget: Retry.Budget) -> Retry.BudgetedPolicy<Metadata> {
        Retry.BudgetedPolicy(policy: self, budget: budget)
    }
}
