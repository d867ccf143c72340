internal import Dispatch
public import FoundationEssentials

/// Sends an access token with requests, and refreshes it once for all requests that need a new one.
///
/// - A token that is about to expire is refreshed before it is sent. A token that the server rejects with 401 is refreshed
///   afterwards. There is one refresh for all requests that are affected, and each of them is repeated once with the new token.
/// - A request that failed with an older token than the current one is repeated without a refresh. A request ends with
///   ``TokenRejected`` if it is rejected again with the same token, or several times with older tokens: as
///   ``HTTPFetchError/retry(_:_:)`` with ``Retry/Error/custom(_:)``.
/// - If a refresh fails, every request that waits for it fails with its error; the next request tries again. Cancelling a request
///   does not cancel the refresh, because the server may have used up the old refresh token already.
/// - Tokens are sent to the given origins only. Requests and redirects to other origins go without one, and so does TRACE. A
///   request interceptor that changes the URL has to come before this one, which decides by the URL that it gets.
///
/// The refresh may fetch on the stack whose requests are authenticated. Its own requests get no token and do not wait for one.
/// They are recognised by their task; a request that another task makes, or that is retried, needs ``Options/isExempt``.
public final class TokenAuthenticator: RequestAuthenticator {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    /// Returns a new token. The parameter is the current one, if there is one.
    public typealias Refresh = @Sendable (AccessToken?) async throws -> AccessToken

    /// When and how tokens are refreshed.
    public struct Options: Sendable {
        /// How long before its expiration a token is refreshed, but at most half of its lifetime. The lifetime of a token from
        /// the store is not known.
        public var margin: Duration
        /// How long a refresh may take. Then every request that waits for it fails with ``TokenRefreshTimedOut``.
        public var timeout: Duration
        /// Returns whether a response means that the server rejected the token.
        public var isRejection: @Sendable (HTTP.Response, Data?) -> Bool
        /// Returns whether a request goes without a token, such as a request for a token.
        public var isExempt: @Sendable (HTTP.Request) -> Bool
        /// Called if the store fails to save a new token. The token is used anyway.
        public var storeFailure: @Sendable (any Error) -> Void

        /// Makes options.
        ///
        /// - Parameters:
        ///   - margin: How long before its expiration a token is refreshed.
        ///   - timeout: How long a refresh may take.
        ///   - isRejection: Returns whether a response means that the server rejected the token; by default a 401.
        ///   - isExempt: Returns whether a request goes without a token.
        ///   - storeFailure: Called if the store fails to save a new token.
        public init(
            margin: Duration = .seconds(30),
            timeout: Duration = .seconds(60),
            isRejection: @escaping @Sendable (HTTP.Response, Data?) -> Bool = { response, _ in
                response.status == .unauthorized
            },
            isExempt: @escaping @Sendable (HTTP.Request) -> Bool = { _ in false },
            storeFailure: @escaping @Sendable (any Error) -> Void = { _ in }
        ) {
            self.margin = margin
            self.timeout = timeout
            self.isRejection = isRejection
            self.isExempt = isExempt
            self.storeFailure = storeFailure
        }
    }

    private let origins: Set<HTTP.Origin>
    private let store: SerialTokenStore
    private let options: Options
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>
    private let refresh: Refresh
    private let state = Lock(TokenState())

    /// The authenticators and numbers of the refreshes that the task is part of; one refresh may need another's.
    @TaskLocal private static var refreshing: [ObjectIdentifier: Int] = [:]

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - origins: The origins that may get the token.
    ///   - store: Stores the token. It is read before the first request, and again only if that failed.
    ///   - options: When and how tokens are refreshed.
    ///   - now: Returns the time for comparing expirations.
    ///   - clock: The clock for the timeout of a refresh.
    ///   - refresh: Returns a new token. Calls do not overlap, except after the timeout or a sign-out.
    public init(
        origins: Set<HTTP.Origin>,
        store: any TokenStore = MemoryTokenStore(),
        options: Options = .init(),
        now: @escaping @Sendable () -> Date = { Date() },
        clock: any Clock<Duration> = ContinuousClock(),
        refresh: @escaping Refresh
    ) {
        self.origins = origins
        self.store = SerialTokenStore(store)
        self.options = options
        self.now = now
        self.clock = clock
        self.refresh = refresh
    }

    // MARK: As an interceptor

    /// `false`: it does not intercept bodies.
    public var interceptsBody: Bool { false }

    /// Adds the token, at once or when there is one. A request to another origin is not changed. A request that waited continues
    /// on a global queue, outside of any task.
    @discardableResult
    public func authenticateRequest(
        _ request: HTTP.Request,
        handler: @escaping AuthenticationHandler
    ) -> any Cancelable {
        let refreshing = Self.refreshing
        guard concerns(request), !isPart(of: refreshing) else { return handler(.success(request)) }
        let waiter = TokenWaiter { result in
            let authenticated = result.map { token in
                var request = request
                request.headers[.authorization] = token.credentials
                return request
            }
            return Self.$refreshing.withValue(refreshing) { handler(authenticated) }
        }
        ask(waiter)
        return waiter
    }

    /// Votes for a retry if the server rejected the token and another one is available. It ignores requests with other credentials.
    public func evaluateFailedRequest(
        _ request: HTTP.Request,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        guard let response, options.isRejection(response, data), concerns(request) && carriedToken(request, response),
            let credentials = request.headers[.authorization]
        else { return .none }
        let rejections = retryState.errors.count {
            guard let status = ($0 as? any HTTPError)?.statusCode else { return false }
            return status == response.status
        }
        return state.withLock { $0.judge(rejected: credentials, rejections: rejections) }
    }

    // MARK: For the rest of a program

    /// Returns the current token, refreshed first if necessary.
    ///
    /// - Returns: The token.
    /// - Throws: The error of the refresh or of the store, ``TokenRefreshTimedOut``, `CancellationError`, or
    ///   ``TokenAwaitedByItsRefresh``.
    public func token() async throws -> AccessToken { try await token(forced: false) }

    /// Gets a new token even if the current one is valid; joins a running refresh.
    ///
    /// - Returns: The new token.
    /// - Throws: The error of the refresh or of the store, ``TokenRefreshTimedOut``, `CancellationError`, or
    ///   ``TokenAwaitedByItsRefresh``.
    @discardableResult
    public func refreshToken() async throws -> AccessToken { try await token(forced: true) }

    /// Removes the token, here and in the store; the next request needs a new one. Requests that wait for a refresh fail with
    /// `CancellationError`. That refresh is cancelled, and its result ignored.
    ///
    /// - Throws: The store's error.
    public func signOut() async throws {
        stop(state.withLock { $0.forget() }, with: .failure(CancellationError()))
        try await save()
    }

    private func token(forced: Bool) async throws -> AccessToken {
        if let number = Self.refreshing[ObjectIdentifier(self)], state.withLock({ $0.isUnderWay(number) }) {
            throw TokenAwaitedByItsRefresh()
        }
        return try await OneShot.value { handler in
            let waiter = TokenWaiter(handler)
            ask(waiter, forced: forced)
            return waiter
        }
    }

    // MARK: Refreshing

    /// Whether the request gets a token. TRACE does not, because the server returns the request (RFC 9110 section 9.3.8).
    private func concerns(_ request: HTTP.Request) -> Bool {
        request.method != .TRACE && isBound(to: request.url) && !options.isExempt(request)
    }

    /// Whether the task is part of a running refresh. A task that a refresh has started may outlive it.
    private func isPart(of refreshing: [ObjectIdentifier: Int]) -> Bool {
        guard let number = refreshing[ObjectIdentifier(self)] else { return false }
        return state.withLock { $0.isRunning(number) }
    }

    private func isBound(to url: URL) -> Bool { (try? HTTP.Origin(of: url)).map(origins.contains) ?? false }

    /// Whether the server that answered got the token. A redirect to another origin removes it, even if that origin may get
    /// tokens, or redirects back. If HSTS upgrades http to https, the token is sent if http is among the origins.
    private func carriedToken(_ request: HTTP.Request, _ response: HTTP.Response) -> Bool {
        let hops = (response.redirects.map(\.url) + [response.url]).map { try? HTTP.Origin(of: $0) }
        guard Set(hops).count == 1, let origin = hops[0], let asked = try? HTTP.Origin(of: request.url) else {
            return false
        }
        return origin == asked || origin.host == asked.host && asked.scheme == .http && origin.scheme == .https
    }

    private func ask(_ waiter: TokenWaiter, forced: Bool = false) {
        let now = now()
        switch state.withLock({ $0.request(waiter, forced: forced, now: now) }) {
        case .use(let token): waiter.resume(with: .success(token))
        case .wait(let number?): begin(number)
        case .wait(nil): break
        }
    }

    private func begin(_ number: Int) {
        let own = Self.refreshing.merging([ObjectIdentifier(self): number]) { $1 }
        let refreshing = Task {
            let result = await Self.$refreshing.withValue(own) {
                await Result(of: { try await freshToken(number) })
            }
            stop(state.withLock { $0.returned(number) }, with: result)
        }
        let timer = Task { [clock, timeout = options.timeout.bounded] in
            do { try await clock.sleep(for: timeout) } catch { return }
            stop(state.withLock { $0.end(number) }, with: .failure(TokenRefreshTimedOut()))
        }
        if state.withLock({ $0.hold(TokenRefresh(refreshing: refreshing, timer: timer), for: number) }) {
            timer.cancel()
            refreshing.cancel()
        }
    }

    private func freshToken(_ number: Int) async throws -> AccessToken {
        if !state.withLock({ $0.isLoaded }) {
            let stored = try await store.load()
            state.withLock { $0.load(stored, margin: options.margin) }
            // A sign-out may have happened meanwhile.
            try Task.checkCancellation()
            let now = now()
            if let (token, ended) = state.withLock({ $0.endAsLoaded(number, now: now) }) {
                stop(ended, with: .success(token))
                return token
            }
        }
        let token = try await refresh(state.withLock { $0.token })
        let now = now()
        guard state.withLock({ $0.adopt(token, from: number, margin: options.margin, now: now) }) else { return token }
        do { try await save() } catch { options.storeFailure(error) }
        return token
    }

    /// Saves the token that is current when the store gets to it, so that the last saved token is never an older one.
    private func save() async throws {
        try await store.save { [self] in state.withLock { $0.token } }
    }

    private func stop(_ ended: ([TokenWaiter], TokenRefresh?), with result: Result<AccessToken, any Error>) {
        let (waiters, underWay) = ended
        underWay?.timer.cancel()
        underWay?.refreshing.cancel()
        // Not in this task, because the waiters' code would see its task-local values and its cancellation.
        DispatchQueue.global().async { for waiter in waiters { waiter.resume(with: result) } }
    }
}

/// The server rejected a new token, or several older ones.
public struct TokenRejected: DescribedError, Hashable {
    /// Makes the error, for tests.
    public init() {}

    /// The failure, in a sentence.
    public var description: String { "The server rejected a token that had just been refreshed." }
}

/// The new token did not arrive in time.
public struct TokenRefreshTimedOut: DescribedError, Hashable {
    /// Makes the error, for tests.
    public init() {}

    /// The failure, in a sentence.
    public var description: String { "The refresh of the token took too long." }
}

/// A refresh asked its authenticator for a token, and would wait for itself.
public struct TokenAwaitedByItsRefresh: DescribedError, Hashable {
    /// Makes the error, for tests.
    public init() {}

    /// The failure, in a sentence.
    public var description: String { "A refresh cannot ask for the token that it is to get." }
}
