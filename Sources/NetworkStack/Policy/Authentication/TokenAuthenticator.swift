internal import Dispatch
public import FoundationEssentials

/// Sends requests with an access token, and gets a new one when it is needed: once for all who need it.
///
/// - A token that is about to expire is refreshed before it is sent; one that the server answers with 401, after. However
///   many requests find that at once, there is one refresh, and each request is repeated once with the new token.
/// - A request that failed with an older token than the current one is just repeated. One that fails with the very token it
///   was repeated with ends with ``TokenRejected``, as does one that was rejected with older tokens several times:
///   ``HTTPFetchError/retry(_:_:)`` with ``Retry/Error/custom(_:)`` around it.
/// - A refresh that fails, fails every request that waits for it with its error; the next request tries again. A request
///   that is cancelled meanwhile leaves the refresh to the others; it runs to its end, as the server may have spent the old
///   refresh token already.
/// - Tokens are sent to the given origins and nowhere else. A request to another origin passes without one, as does TRACE,
///   and a redirect to another origin does not carry it on.
///
/// The refresh may fetch on the very stack whose requests are authenticated. Its own requests go without a token, and wait
/// for none: they are known by the task that makes them, so for one that is made elsewhere, or tried again, say so in
/// ``Options/isExempt``.
public final class TokenAuthenticator: RequestAuthenticator {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    /// Gets a new token in place of the one there was, if there was one.
    public typealias Refresh = @Sendable (AccessToken?) async throws -> AccessToken

    /// When and how tokens are refreshed.
    public struct Options: Sendable {
        /// How long before it expires a token is refreshed, but at most half the life it had when it was new. Nobody knows that
        /// of one from the store.
        public var margin: Duration
        /// How long a refresh may take before everybody who waits for it fails with ``TokenRefreshTimedOut``.
        public var timeout: Duration
        /// Whether an answer means that the server would not take the token.
        public var isRejection: @Sendable (HTTP.Response, Data?) -> Bool
        /// Whether a request goes without a token, such as one for a token.
        public var isExempt: @Sendable (HTTP.Request) -> Bool
        /// Told when the store could not keep a new token. Requests go on with it all the same.
        public var storeFailure: @Sendable (any Error) -> Void

        /// Makes options.
        ///
        /// - Parameters:
        ///   - margin: How long before it expires a token is refreshed.
        ///   - timeout: How long a refresh may take.
        ///   - isRejection: Whether an answer means that the server would not take the token; a 401 does.
        ///   - isExempt: Whether a request goes without a token.
        ///   - storeFailure: Told when the store could not keep a new token.
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

    /// Whose refreshes the task is part of, and which: one may need another's.
    @TaskLocal private static var refreshing: [ObjectIdentifier: Int] = [:]

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - origins: Where the token may be sent.
    ///   - store: Where the token is kept; it is asked before the first request, and again only if it failed then.
    ///   - options: When and how tokens are refreshed.
    ///   - now: The time that expirations are compared with.
    ///   - clock: What the timeout of a refresh runs on.
    ///   - refresh: Gets a new token. It is called again before it has ended only if the timeout or a sign-out gave it up.
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

    /// Content is none of its business.
    public var interceptsContent: Bool { false }

    /// Adds the token, now or when there is one; a request to another origin passes as it is. One that had to wait goes
    /// on from a global queue, in no task.
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

    /// Votes for a repetition if the token was not taken and another is to be had. What a request was sent with that did not
    /// come from here is none of its business.
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

    /// The current token, refreshed first if it has to be.
    ///
    /// - Returns: The token.
    /// - Throws: What the refresh or the store threw, ``TokenRefreshTimedOut``, `CancellationError`, or
    ///   ``TokenAwaitedByItsRefresh``.
    public func token() async throws -> AccessToken { try await token(forced: false) }

    /// Gets a new token even if the current one is good; joins the refresh under way, if one is.
    ///
    /// - Returns: The new token.
    /// - Throws: What the refresh or the store threw, ``TokenRefreshTimedOut``, `CancellationError`, or
    ///   ``TokenAwaitedByItsRefresh``.
    @discardableResult
    public func refreshToken() async throws -> AccessToken { try await token(forced: true) }

    /// Forgets the token, here and in the store; the next request needs a new one. Who waits for a refresh fails with
    /// `CancellationError`; that refresh is cancelled, and what comes of it is dropped.
    ///
    /// - Throws: What the store threw.
    public func signOut() async throws {
        stop(state.withLock { $0.forget() }, with: .failure(CancellationError()))
        try await save()
    }

    private func token(forced: Bool) async throws -> AccessToken {
        if let number = Self.refreshing[ObjectIdentifier(self)], state.withLock({ $0.isUnderWay(number) }) {
            throw TokenAwaitedByItsRefresh()
        }
        return try await Handover.value { handler in
            let waiter = TokenWaiter(handler)
            ask(waiter, forced: forced)
            return waiter
        }
    }

    // MARK: Refreshing

    /// What is traced comes back as it was sent, and has no token (RFC 9110 section 9.3.8).
    private func concerns(_ request: HTTP.Request) -> Bool {
        request.method != .TRACE && isBound(to: request.url) && !options.isExempt(request)
    }

    /// Whether the task gets the token that others wait for. A task that a refresh has begun may outlive it.
    private func isPart(of refreshing: [ObjectIdentifier: Int]) -> Bool {
        guard let number = refreshing[ObjectIdentifier(self)] else { return false }
        return state.withLock { $0.isRunning(number) }
    }

    private func isBound(to url: URL) -> Bool { (try? HTTP.Origin(of: url)).map(origins.contains) ?? false }

    /// Whether who answered saw the token: a redirect to another origin takes it away for good, also if that is bound, or leads
    /// back. One that is to be reached over https only (HSTS) is, with the token, also if http is what was bound.
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
        // Nobody waits longer than thirty years, and clocks trap on what is much longer.
        let timer = Task { [clock, timeout = min(options.timeout, .seconds(1_000_000_000))] in
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
            // Somebody may have signed out meanwhile.
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

    /// Has the store keep what is current when its turn comes: the last to be stored is never older than what there is.
    private func save() async throws {
        try await store.save { [self] in state.withLock { $0.token } }
    }

    private func stop(_ ended: ([TokenWaiter], TokenRefresh?), with result: Result<AccessToken, any Error>) {
        let (waiters, underWay) = ended
        underWay?.timer.cancel()
        underWay?.refreshing.cancel()
        // Not in this task: what follows is others', and would see its values and its cancellation.
        DispatchQueue.global().async { for waiter in waiters { waiter.resume(with: result) } }
    }
}

/// The server would not take a token that was new, nor several that were not.
public struct TokenRejected: Error, Hashable, CustomStringConvertible {
    /// Makes the error, for tests of who is to handle it.
    public init() {}

    /// What happened.
    public var description: String { "The server rejected a token that had just been refreshed." }
}

/// A new token did not come in time.
public struct TokenRefreshTimedOut: Error, Hashable, CustomStringConvertible {
    /// Makes the error, for tests of who is to handle it.
    public init() {}

    /// What happened.
    public var description: String { "The refresh of the token took too long." }
}

/// A refresh asked its authenticator for a token, and would have waited for itself.
public struct TokenAwaitedByItsRefresh: Error, Hashable, CustomStringConvertible {
    /// Makes the error, for tests of who is to handle it.
    public init() {}

    /// What happened.
    public var description: String { "A refresh cannot ask for the token that it is to get." }
}
