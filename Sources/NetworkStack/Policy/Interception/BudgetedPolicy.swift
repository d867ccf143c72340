public import FoundationEssentials

extension Retry {
    /// A policy whose retries use a budget. Made by ``Policy/within(_:)``.
    public struct BudgetedPolicy<Metadata: HTTPRetryMetadata>: HTTPResourceInterceptor {
        /// The request of the stack.
        public typealias Request = Metadata.Request
        /// The response of the stack.
        public typealias Response = Metadata.Response

        let policy: Policy<Metadata>
        let budget: Budget

        /// `false`: it does not intercept requests.
        public var interceptsRequests: Bool { false }

        /// `false`: it does not intercept bodies.
        public var interceptsBody: Bool { false }

        /// Adds a first attempt to the budget.
        public func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: State) {
            if retryState.errors.isEmpty, let origin = Self.origin(of: request) { budget.deposit(for: origin) }
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
            // Such a delay ends the fetch.
            case .retryAfter(let delay) where !(delay > 0 && delay.isFinite): return action
            case .retry, .retryAfter: break
            }
            // A request that was not sent, and a vote that does not count, cost nothing.
            guard let request, let origin = Self.origin(of: request), (error as? any HTTPError)?.isFinal != true else {
                return action
            }
            return budget.withdraw(from: origin) ? action : .noRetry(.custom(BudgetExhausted(origin: origin)))
        }

        private static func origin(of request: Request) -> HTTP.Origin? {
            (try? request.httpRequest()).flatMap { try? HTTP.Origin(of: $0.url) }
        }
    }
}

extension Retry.Policy where Metadata: HTTPRetryMetadata {
    /// Returns the policy with a budget per host for its retries.
    ///
    /// - Parameter budget: The budget, which other policies may share.
    /// - Returns: The interceptor. A retry beyond the budget ends the fetch with ``Retry/BudgetExhausted``.
    public func within(_ budget: Retry.Budget) -> Retry.BudgetedPolicy<Metadata> {
        Retry.BudgetedPolicy(policy: self, budget: budget)
    }
}
