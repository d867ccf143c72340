import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// A fetch as one side of a pair sends it.
struct PairFetch: Sendable {
    var method = HTTP.Method.GET
    /// The host, or `nil` for the server's address.
    var host: String?
    /// Whether the URL is one of http, whatever the server speaks.
    var isPlain = false
    /// What follows the server's authority, a fragment included.
    var target = "/pair"
    /// The user info of the URL, with its `@`.
    var userInfo = ""
    var headers: HTTP.Headers = [:]
    /// Makes the body, anew for every resource: some can be read once only.
    var body: @Sendable () -> HTTP.Body = { .none }
    /// The resource's own options, or `nil` for the stack's.
    var options: HTTP.Options?
    var interceptors: ConformanceSubject.Stack.Resource.Interceptors = []
    /// Whether the content is streamed rather than collected.
    var isStreamed = false
    /// What the fetch reports while it runs.
    let log = EventLog()

    /// Changes the resource's own options, beginning with the defaults.
    mutating func withOptions(_ change: (inout HTTP.Options) throws -> Void) rethrows {
        var changed = options ?? HTTP.Options()
        try change(&changed)
        options = changed
    }
}

/// Which of a pair's two fetches: the one with what the pair is about, or the one without.
enum PairSide: String, Sendable {
    case with
    case without

    var other: PairSide { self == .with ? .without : .with }
}

/// What the fetches of a pair have in common.
enum PairSituation: String, Sendable, CaseIterable {
    /// One connection.
    case sameConnection = "on one connection"
    /// One origin, whose server closes each connection after its response.
    case closedConnection = "after a close"
    /// Each goes to the other of two origins.
    case otherOrigin = "to another origin"
    /// Each is redirected within its origin.
    case redirected = "after a redirect"
    /// Each is redirected to the other origin.
    case redirectedAway = "after a redirect to another origin"
    /// Each is answered with 503 once, and tried again.
    case retried = "in a retry"
    /// One fetch: its second attempt is the other side's.
    case changedByRetry = "in a retry of one resource"
    /// One connection of HTTP/2.
    case overHTTP2 = "over HTTP/2"

    /// What a stack must be able to do.
    var needs: Set<HTTP.Capability> {
        switch self {
        case .sameConnection, .redirected, .retried, .changedByRetry: []
        case .closedConnection, .otherOrigin, .redirectedAway: [.network]
        case .overHTTP2: [.network, .http2, .customTrustRoots]
        }
    }

    /// Those that a pair is tried in unless it says otherwise.
    static let usual: Set<PairSituation> = [
        .sameConnection, .closedConnection, .otherOrigin, .redirected, .redirectedAway, .retried,
    ]
    /// Those of what a request consists of.
    static let ofRequests = usual.union([.changedByRetry, .overHTTP2])
    /// Those of what takes time.
    static let short: Set<PairSituation> = [.sameConnection, .otherOrigin, .retried]
}

/// Where the servers of a pair are.
struct PairPlace: Sendable {
    /// The URL of a path on each of the two servers.
    let urls: [@Sendable (_ path: String) -> String]

    func url(_ server: Int = 0, _ path: String = "") -> String { urls[server](path) }

    var ports: [Int] { urls.indices.compactMap { Int(authority($0).split(separator: ":").last ?? "") } }

    /// The host and port of a server.
    func authority(_ server: Int = 0) -> String { String(url(server).split(separator: "/")[1]) }
}

/// Two fetches that differ in one thing. On one stack each must be what it is on a stack of its own.
struct Pair: Sendable {
    /// What the servers of a pair are.
    enum Servers: Sendable {
        case plain
        /// They speak TLS, each with a key of its own, and answer which version and to whom (`X-TLS`).
        case secure
        /// One server of HTTP/2 in the clear.
        case priorKnowledge
        /// They take TCP connections and never answer the TLS handshake.
        case silent
        /// Their one place is taken by a fetch before the pair's begin.
        case taken
    }

    /// What they differ in: it completes the sentence "No other fetch is affected by ...".
    let name: String
    /// The stored properties that it is about: `timeouts.idle` of ``HTTP/Options``, `configuration.headers`.
    var covers: [String] = []
    var needs: Set<HTTP.Capability> = []
    var situations = PairSituation.usual
    /// What its servers are.
    var servers = Servers.plain
    /// Whether all that the server has received is compared; not where it depends on the moment.
    var comparesRequests = true
    /// Whether a connection that one side's fetch leaves is used again as that side's next fetch would, whichever comes next.
    var sharesConnections = true
    /// Whether both sides fetch one resource, and only the server's answers differ.
    var sharesResource = false
    /// What the stack is, on both sides.
    var configure: @Sendable (inout Network.Configuration, PairPlace) throws -> Void = { _, _ in }
    /// What the stack of one side is besides: then each side has a stack of its own, in one process.
    var configureOne: (@Sendable (inout Network.Configuration, PairPlace) throws -> Void)?
    /// What both fetches are.
    var base: @Sendable (inout PairFetch, PairPlace) throws -> Void = { _, _ in }
    /// What one of them is besides.
    var set: @Sendable (inout PairFetch, PairPlace) throws -> Void = { _, _ in }
    /// What the other is instead.
    var unset: @Sendable (inout PairFetch, PairPlace) throws -> Void = { _, _ in }
    /// What the server answers.
    var answer: @Sendable (ReceivedRequest, PairSide, PairPlace) -> Reply = { _, _, _ in .ok("of a pair") }

    /// The check that tries the pair in all of its situations.
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
