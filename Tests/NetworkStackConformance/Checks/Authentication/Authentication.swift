import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Credentials, and the protection of credentials from other origins.
    static let authentication: [ConformanceCheck] = tokens + tokenOrigins + realAuthentication

    private static let tokens: [ConformanceCheck] = [
        ConformanceCheck("A thousand parallel 401s cause one token request, and all succeed") { subject in
            let service = try TokenService(subject)
            let authenticator = try service.authenticator(stored: "T0")
            let stack = try subject.stack()
            service.use(stack)
            // All fetches have a token before the first is sent.
            let together = Rendezvous(of: 1000)
            let spy = Spy("together").with { $0.make = { made, handler in together.meet { handler(made) } } }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                service.url("/items"),
                by: [authenticator, spy]
            )
            let observations = (1...1000).map { _ in stack.observe(resource) }
            for observation in observations {
                try expectEqual(try await observation.onlyOutcome(within: .seconds(40)).text(), "T1", "the body")
            }
            try expectEqual(service.count("/token"), 1, "token requests on the wire")
            try expectEqual(service.count("/items"), 2000, "other requests on the wire")
        },
        ConformanceCheck("An expired token is refreshed once, before any request carries it") { subject in
            let service = try TokenService(subject)
            let authenticator = try service.authenticator(stored: "T0", expiresIn: -1)
            let stack = try subject.stack()
            service.use(stack)
            let resource = try ConformanceSubject.Stack.Resource.intercepted(service.url("/items"), by: [authenticator])
            let observations = (1...100).map { _ in stack.observe(resource) }
            for observation in observations { try await observation.onlyOutcome().value() }
            try expectEqual(service.count("/token"), 1, "token requests on the wire")
            try expectEqual(service.count("/items"), 100, "other requests on the wire")
        },
        ConformanceCheck("A failed refresh fails all waiting fetches; the next fetch tries again") {
            subject in
            let service = try TokenService(subject)
            let authenticator = try service.authenticator(stored: nil)
            let stack = try subject.stack()
            service.use(stack)
            service.fails(true)
            let gate = service.holdTokens()
            let resource = try ConformanceSubject.Stack.Resource.intercepted(service.url("/items"), by: [authenticator])
            let observations = (1...50).map { _ in stack.observe(resource) }
            try await eventually("a token is requested") { service.count("/token") == 1 }
            gate.open()
            for observation in observations {
                guard case .failure(.noRequest(let error)) = try await observation.onlyOutcome(),
                    (error as? any HTTPError)?.statusCode == 500
                else { throw ConformanceFailure("Expected the refresh's error") }
            }
            try expectEqual(service.count("/items"), 0, "requests without a token")
            service.fails(false)
            try await stack.observe(resource).onlyOutcome().value()
            try expectEqual(service.count("/token"), 2, "token requests on the wire")
        },
        ConformanceCheck("An authenticator ignores a 401 to credentials other than its token") {
            subject in
            let peer = try subject.serve { request in
                request.path == "/items" ? .ok("x") : .status(401, headers: [("WWW-Authenticate", "Basic realm=x")])
            }
            let login = try HTTP.Request(url: peer.url("/token"), headers: [.authorization: "Basic dTp3cm9uZw=="])
            let (place, clock) = (Lock<ConformanceSubject.Stack?>(nil), VirtualClock())
            let authenticator = TokenAuthenticator(
                origins: [try HTTP.Origin(of: login.url)],
                options: .init(isExempt: { $0.url.path == "/login" }),
                clock: clock
            ) { _ in
                let resource = ConformanceSubject.Stack.Resource(baseRequestMaking: .request(login))
                _ = try await place.withLock { $0 }?.fetch(resource: resource)
                return AccessToken("never")
            }
            let stack = try subject.stack { $0.interceptors = [authenticator] }
            place.withLock { $0 = stack }
            defer { place.withLock { $0 = nil } }
            let outcome = try await stack.observe(peer.url("/items")).onlyOutcome()
            guard case .failure(.noRequest(let error)) = outcome,
                (error as? any HTTPError)?.statusCode == .unauthorized
            else { throw ConformanceFailure("Expected the refresh's 401, saw \(outcome.summary)") }
            try expectEqual(clock.now.offset, .zero, "the time that passed")
            let url = peer.url("/login")
            let refused = try await stack.observe(url, headers: [.authorization: "Basic dTp3cm9uZw=="]).onlyOutcome()
            guard case .failure(.http(.unauthorized, _, _)) = refused else {
                throw ConformanceFailure("Expected the login's 401, saw \(refused.summary)")
            }
            try expectEqual(peer.requests().map(\.path), ["/token", "/login"], "requests on the wire")
        },
        ConformanceCheck("A server that rejects every token ends the fetch after one refresh") { subject in
            let service = try TokenService(subject)
            let authenticator = try service.authenticator(stored: "T0")
            let stack = try subject.stack()
            service.use(stack)
            let outcome = try await stack.observe(
                .intercepted(
                    service.url("/forbidden"),
                    by: [authenticator, HTTPRetryPolicy.maxRetries(20).whenTransient()]
                )
            ).onlyOutcome()
            guard case (.custom(_ as TokenRejected), let state) = try outcome.retryError(), state.errors.count == 2
            else {
                throw ConformanceFailure("Expected TokenRejected after two 401s, saw \(outcome.summary)")
            }
            guard case .failure(let error) = outcome, error.statusCode == 401 else {
                throw ConformanceFailure("Expected a 401")
            }
            try expectEqual(service.count("/token"), 1, "token requests on the wire")
            try expectEqual(service.count("/forbidden"), 2, "other requests on the wire")
        },
        ConformanceCheck("A request rejected with an older token is repeated without refreshing") { subject in
            let service = try TokenService(subject)
            let authenticator = try service.authenticator(stored: "T0")
            let stack = try subject.stack()
            service.use(stack)
            let gate = service.holdFirst("/slow")
            let slow = try stack.observe(.intercepted(service.url("/slow"), by: [authenticator]))
            try await eventually("the slow request is there") { service.count("/slow") == 1 }
            try await stack.observe(.intercepted(service.url("/items"), by: [authenticator])).onlyOutcome().value()
            gate.open()
            try await slow.onlyOutcome().value()
            try expectEqual(service.count("/token"), 1, "token requests on the wire")
            try expectEqual(service.count("/slow"), 2, "slow requests on the wire")
        },
        ConformanceCheck("Cancelling one fetch leaves the shared token refresh to the others") {
            subject in
            let service = try TokenService(subject)
            let authenticator = try service.authenticator(stored: nil)
            let stack = try subject.stack()
            service.use(stack)
            let gate = service.holdTokens()
            let resource = try ConformanceSubject.Stack.Resource.intercepted(service.url("/items"), by: [authenticator])
            let (first, second) = (stack.observe(resource), stack.observe(resource))
            try await eventually("a token is requested") { service.count("/token") == 1 }
            first.cancel()
            try await first.onlyOutcome(within: .seconds(10)).expectCancelled()
            gate.open()
            try await second.onlyOutcome().value()
            try expectEqual(service.count("/token"), 1, "token requests on the wire")
            try expectEqual(service.count("/items"), 1, "other requests on the wire")
        },
        ConformanceCheck("An authenticator may fetch on the stack it serves, over one connection") { subject in
            let service = try TokenService(subject)
            let authenticator = try service.authenticator(stored: "T0")
            // It intercepts the refresh's request, too, and must not wait for itself.
            let stack = try subject.stack {
                $0.connections.perHost = 1
                if subject.capabilities.supports(.totalConnectionLimit) { $0.connections.total = 1 }
                $0.interceptors = [authenticator]
            }
            service.use(stack)
            defer { service.use(nil) }  // The stack holds the authenticator, which fetches on the stack.
            let observations = try (1...20).map { _ in try stack.observe(service.url("/items")) }
            for observation in observations { try await observation.onlyOutcome().value() }
            try expectEqual(service.count("/token"), 1, "token requests on the wire")
        },
        ConformanceCheck("An authenticator written with async/await signs requests") { subject in
            struct Signer: AsyncRequestAuthenticator {
                typealias Request = HTTP.Request
                typealias Response = HTTP.Response

                func authenticate(_ request: HTTP.Request) async throws -> HTTP.Request {
                    await Task.yield()
                    var request = request
                    request.headers["X-Signature"] = "signed"
                    return request
                }

                func evaluateFailedRequest(
                    _ request: HTTP.Request,
                    data: Data?,
                    response: HTTP.Response?,
                    error: any Error,
                    retryState: Retry.State
                ) -> Retry.Action { retryState.retryCount < 1 && response?.status == 401 ? .retry : .none }
            }
            let peer = try subject.serve {
                $0["x-signature"] == "signed" && $0.path == "/good" ? .ok("x") : .status(401)
            }
            let stack = try subject.stack { $0.interceptors = [Signer()] }
            try await stack.text(peer.url("/good"))
            _ = try await stack.observe(peer.url("/bad")).onlyOutcome()
            try expectEqual(peer.requests().map(\.path), ["/good", "/bad", "/bad"], "what the server received")
        },
    ]
}

/// Delays work until a number of items has arrived; later items run at once.
private final class Rendezvous: Sendable {
    private let waiting: Lock<(count: Int, work: [@Sendable () -> Void])>

    init(of count: Int) { waiting = Lock((count, [])) }

    func meet(_ work: @escaping @Sendable () -> any Cancelable) -> any Cancelable {
        let bag = CancelableBag()
        let ready = waiting.withLock { waiting -> [@Sendable () -> Void] in
            waiting.count -= 1
            waiting.work.append { bag += work() }
            guard waiting.count <= 0 else { return [] }
            defer { waiting.work = [] }
            return waiting.work
        }
        for work in ready { work() }
        return bag
    }
}

/// A service that issues tokens, T1, T2, ..., and accepts the newest.
final class TokenService: Sendable {
    private struct State {
        var issued = 0
        var fails = false
        var tokenGate: Latch?
        var firstGates: [String: Latch] = [:]
        var stack: ConformanceSubject.Stack?
    }

    private struct NoStack: Error {}

    private let state: Lock<State>
    private let peer: ConformancePeer

    init(_ subject: ConformanceSubject) throws {
        let state = Lock(State())
        self.state = state
        peer = try subject.serve { request in
            let gate = state.withLock {
                request.path == "/token" ? $0.tokenGate : $0.firstGates.removeValue(forKey: request.path)
            }
            let wasTaken = state.withLock { request["authorization"] == "Bearer T\($0.issued)" && $0.issued > 0 }
            gate?.wait()
            if request.path == "/token" {
                guard request["authorization"] == nil else { return .status(400) }
                return state.withLock { state in
                    if state.fails { return .status(500) }
                    state.issued += 1
                    return .ok("T\(state.issued)")
                }
            }
            guard wasTaken, request.path != "/forbidden" else {
                return .status(401, headers: [("WWW-Authenticate", "Bearer")])
            }
            return state.withLock { .ok("T\($0.issued)") }
        }
    }

    func url(_ path: String) -> String { peer.url(path) }

    /// The number of requests for a path.
    func count(_ path: String) -> Int { peer.requests().count { $0.path == path } }

    /// The stack for token requests.
    func use(_ stack: ConformanceSubject.Stack?) { state.withLock { $0.stack = stack } }

    func fails(_ fails: Bool) { state.withLock { $0.fails = fails } }

    /// Delays the responses to token requests.
    func holdTokens() -> Latch {
        let gate = Latch()
        state.withLock { $0.tokenGate = gate }
        return gate
    }

    /// Delays the response to the next request for a path; its token is checked on arrival.
    func holdFirst(_ path: String) -> Latch {
        let gate = Latch()
        state.withLock { $0.firstGates[path] = gate }
        return gate
    }

    /// An authenticator for the service.
    func authenticator(stored: String?, expiresIn seconds: Double? = nil) throws -> TokenAuthenticator {
        let origin = try HTTP.Origin(of: HTTP.Request(url: url("/")).url)
        let token = stored.map { AccessToken($0, expirationDate: seconds.map { Date().addingTimeInterval($0) }) }
        let resource = try ConformanceSubject.Stack.Resource.get(url("/token"))
        return TokenAuthenticator(origins: [origin], store: MemoryTokenStore(token)) { [state] _ in
            guard let stack = state.withLock({ $0.stack }) else { throw NoStack() }
            return AccessToken(String(decoding: try await stack.fetch(resource: resource).value, as: UTF8.self))
        }
    }
}
