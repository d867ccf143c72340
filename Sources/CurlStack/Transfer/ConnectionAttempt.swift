internal import NetworkStack

/// One attempt to carry a request: the way to a connection, and that connection. To start over is to assign a new one.
///
/// What a proxy must prove itself to be is no part of it: that is the same for the whole request.
struct ConnectionAttempt {
    /// The sockets that were opened to connect with.
    var openedSockets: [Int32] = []
    /// How many handshakes have begun on the latest connection. Behind a proxy that speaks TLS, the first is the proxy's.
    var handshakes = 0
    /// What is noted of the connection's TLS, if it has any; before there is a connection, of the latest handshake.
    var tlsRecord: TLSRecord?
    /// The keys of the chain the server was verified by, if they were asked for, and the pinned one among them.
    var serverPins: (chain: [PublicKeyPin], matched: PublicKeyPin?)?

    /// The connection, once there is one.
    var connection: Connection? { didSet { isBetweenConnections = false } }
    /// The transfer's stream on a connection of HTTP/2.
    var stream: UInt32?
    /// Whether the request may be sent on the connection, or the connection was opened in advance.
    var isConnected = false
    /// Whether the connection had been used before.
    var isReused = false
    /// Whether the connection speaks HTTP/2.
    var speaksHTTP2 = false

    /// Whether libcurl may negotiate HTTP/2 with the host.
    var mayNegotiateHTTP2 = true
    /// Whether the transfer counts on a connection that speaks HTTP/2 already.
    var joinsHTTP2 = false
    /// Whether the queue knows what the connection speaks.
    var hasReportedVersion = false

    /// When the transfer starts over, if it does. Nothing that this attempt has sent or received counts.
    var restart: Restart?
    /// Whether libcurl has given the connection up, and looks for another.
    var isBetweenConnections = false
    /// The ends of the connection that libcurl has chosen, over a Unix socket.
    var unixEndpoints: EndpointPair?
    /// What libcurl waits for, where it would read that for a transfer that is paused.
    var socket: Int32?

    /// When another attempt is made.
    enum Restart {
        case atOnce
        /// Another transfer has not finished opening the connection.
        case afterTunnel
    }
}

/// How often a request was sent, over all its attempts.
struct SendHistory {
    /// The most times that a transfer starts over on connections that it opens.
    static let mostRestarts = 5
    /// The most times that it starts over on kept connections, of which a server may process a few streams each.
    static let mostRestartsOnKept = 100
    /// The most times that a request is sent on kept connections of HTTP/2 without an answer. It is more than one because they are
    /// shared: the second may be sound.
    static let mostUnansweredOnShared = 2

    /// How often the transfer has started over, for any reason that counts towards ``mostRestarts``.
    var restarts = 0
    /// How often the request was sent without an answer, but for what the server declares not processed.
    var unanswered = 0
    /// How many connections had been opened when it was sent last.
    private var knownConnections = 0
    /// How often the request was sent again; `nil` until it was sent.
    var resends: Int?
    /// Whether the latest send was a repetition by libcurl itself.
    var wasRepeated = false
    /// Whether the next connection must be a fresh one.
    var needsFreshConnection = false

    /// The request is about to go out.
    ///
    /// - Parameters:
    ///   - wasUnprocessed: Whether the server has declared that it did not process the request as it was sent last.
    ///   - connections: How many connections were opened so far.
    mutating func noteSend(wasUnprocessed: Bool, after connections: Int) {
        knownConnections = connections
        resends = resends.map { $0 + 1 } ?? 0
        if !wasUnprocessed { unanswered += 1 }
    }
}

extension SendHistory {
    /// Whether a kept connection may be as dead as those on which the request was sent without an answer, and would cost a repetition. One of
    /// HTTP/2 that was opened since is another transfer's that started over.
    func distrusts(_ connection: Connection, overHTTP2: Bool) -> Bool {
        guard overHTTP2 else { return unanswered > 0 }
        return unanswered >= Self.mostUnansweredOnShared && connection.number <= knownConnections
    }
}

/// A transfer's place in the queue of its host.
struct QueuePlace {
    let enqueuedAt: MonotonicTime
    /// When the transfer gives up waiting.
    var deadline: MonotonicTime?
    /// How long it waited.
    var waited: Duration?
    /// The number, in the order in which its host fills pools, of the one where it was to connect; `nil` before it might.
    var poolNumber: Int?
    /// The slot where the loop has that pool, once it was made.
    var slot: Int?
}
