import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// A fetch of one side of a pair.
struct PairFetch: Sendable {
    var method = HTTP.Method.GET
    /// The host, or `nil` for the server's address.
    var host: String?
    /// Whether the URL is http, regardless of the server.
    var isPlain = false
    /// The rest of the URL after the authority, fragment included.
    var target = "/pair"
    /// The user info of the URL, with `@`.
    var userInfo = ""
    var headers: HTTP.Headers = [:]
    /// Makes the body for each resource; some bodies can be read only once.
    var body: @Sendable () -> HTTP.Body = { .none }
    /// The resource's options, or `nil` for the stack's.
    var options: HTTP.Options?
    var interceptors: ConformanceSubject.Stack.Resource.Interceptors = []
    /// Whether the body is streamed instead of collected.
    var isStreamed = false
    /// The events of the fetch.
    let log = EventLog()

    /// Changes the resource's options, beginning with the defaults.
    mutating func withOptions(_ change: (inout HTTP.Options) throws -> Void) rethrows {
        var changed = options ?? HTTP.Options()
        try change(&changed)
        options = changed
    }
}

/// The side of a pair: with its difference, or without.
enum PairSide: String, Sendable {
    case with
    case without

    var other: PairSide { self == .with ? .without : .with }
}

/// The situations in which the fetches of a pair are compared.
enum PairSituation: String, Sendable, CaseIterable {
    /// One connection.
    case sameConnection = "on one connection"
    /// One origin, whose server closes each connection after its response.
    case closedConnection = "after a close"
    /// Each fetch goes to the other of two origins.
    case otherOrigin = "to another origin"
    /// Each fetch is redirected within its origin.
    case redirected = "after a redirect"
    /// Each fetch is redirected to the other origin.
    case redirectedAway = "after a redirect to another origin"
    /// Each fetch gets a 503 once, and is retried.
    case retried = "in a retry"
    /// One fetch, whose second attempt is that of the other side.
    case changedByRetry = "in a retry of one resource"
    /// One HTTP/2 connection.
    case overHTTP2 = "over HTTP/2"

    /// The capabilities that a stack needs.
    var needs: Set<HTTP.Capability> {
        switch self {
        case .sameConnection, .redirected, .retried, .changedByRetry: []
        case .closedConnection, .otherOrigin, .redirectedAway: [.network]
        case .overHTTP2: [.network, .http2, .customTrustRoots]
        }
    }

    /// The situations of most pairs.
    static let usual: Set<PairSituation> = [
        .sameConnection, .closedConnection, .otherOrigin, .redirected, .redirectedAway, .retried,
    ]
    /// The situations of pairs that differ in the request.
    static let ofRequests = usual.union([.changedByRetry, .overHTTP2])
    /// The situations of pairs that take long.
    static let short: Set<PairSituation> = [.sameConnection, .otherOrigin, .retried]
}

/// The servers of a pair.
struct PairPlace: Sendable {
    /// The URL of a path on each of the two servers.
    let urls: [@Sendable (_ path: String) -> String]

    func url(_ server: Int = 0, _ path: String = "") -> String { urls[server](path) }

    var ports: [Int] { urls.indices.compactMap { Int(authority($0).split(separator: ":").last ?? "") } }

    /// The host and port of a server.
    func authority(_ server: Int = 0) -> String { String(url(server).split(separator: "/")[1]) }
}

/// Two fetches that differ in one thing. On one stack, each must behave as it does on a separate stack.
struct Pair: Sendable {
    /// The kinds of servers of a pair.
    enum Servers: Sendable {
        case plain
        /// They use TLS with different keys, and report the version and SNI (`X-TLS`).
        case secure
        /// One HTTP/2 server without TLS.
        case priorKnowledge
        /// They accept TCP connections but never answer the TLS handshake.
        case silent
        /// Their only connection is occupied by another fetch.
        case taken
    }

    /// The difference; it completes the sentence "No other fetch is affected by ...".
    let name: String
    /// The stored properties that it covers: `timeouts.idle` of ``HTTP/Options``, `configuration.headers`.
    var covers: [String] = []
    var needs: Set<HTTP.Capability> = []
    var situations = PairSituation.usual
    /// The kind of servers.
    var servers = Servers.plain
    /// Whether everything that the server received is compared; not if it depends on timing.
    var comparesRequests = true
    /// Whether a connection is reused after one side's fetch as it is by that side's next fetch, whichever side comes next.
    var sharesConnections = true
    /// Whether both sides fetch one resource, and only the server's answers differ.
    var sharesResource = false
    /// Configures the stack of both sides.
    var configure: @Sendable (inout Network.Configuration, PairPlace) throws -> Void = { _, _ in }
    /// Configures the stack of one side; then each side has a separate stack, in one process.
    var configureOne: (@Sendable (inout Network.Configuration, PairPlace) throws -> Void)?
    /// Prepares both fetches.
    var base: @Sendable (inout PairFetch, PairPlace) throws -> Void = { _, _ in }
    /// Prepares one of them.
    var set: @Sendable (inout PairFetch, PairPlace) throws -> Void = { _, _ in }
    /// Prepares the other one.
    var unset: @Sendable (inout PairFetch, PairPlace) throws -> Void = { _, _ in }
    /// The answer of the server.
    var answer: @Sendable (ReceivedRequest, PairSide, PairPlace) -> Reply = { _, _, _ in .ok("of a pair") }

    /// The check that runs the pair in all of its situations.
    var check: ConformanceCheck {
        ConformanceCheck("No other fetch is affected by \(name)", needs: needs) { subject in
            for situation in PairSituation.allCases
            where situations.contains(situation) && situation.needs.allSatisfy(subject.capabilities.supports) {
                let trial = try await PairTrial(self, situation, subject)
                try await trial.run()
            }
        }
    }
}
