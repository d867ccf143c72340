internal import CCurl
internal import Glibc
internal import NetworkStack

/// A connection that libcurl has opened, and what is known of it beyond what libcurl reports.
///
/// Its identity is the object: a descriptor, a port and libcurl's own number all come back for other connections.
final class Connection {
    /// What libcurl may have read and not dealt with (``BufferedHTTP2Input``).
    struct BufferedInput {
        /// How often the connection is to be looked at.
        var looks = 0
        /// Whether it was looked at last.
        var wasLookedAt = false
        /// How many streams of it are paused: what they receive is not seen.
        var pausedStreams = 0
        /// When it was read, if a fault may have been the last that was read.
        var lastRead: MonotonicTime?

        /// Whether there is anything to note.
        var isNeeded: Bool { looks > 0 || wasLookedAt || pausedStreams > 0 }
    }

    let endpoints: EndpointPair
    /// Its place in the order in which connections were opened, from 1 on; 0 if its socket is not known.
    let number: Int
    private let socket: Int32?
    /// What metrics and events show of it.
    let facts: HTTP.Connection
    /// What is noted of its TLS, if it has any.
    let tlsRecord: TLSRecord?
    private(set) var isClosed = false
    /// The origin of the request that opened it, if its socket is known. Through a proxy, requests to others may use it, too.
    let origin: HTTP.Origin?

    // HTTP/1.1
    /// How long the server keeps it unused, if the server has announced that.
    private var keepAlive: Duration?
    /// When it is used no more if it stays unused.
    private var deadline: MonotonicTime?

    // HTTP/2
    /// How many streams were opened.
    private var streams: UInt32 = 0
    /// How many of them libcurl has reset although they had ended.
    private var resets = 0
    /// The GOAWAY by which the server ended the connection.
    private(set) var goAway: GoAway?
    /// Whether libcurl closed it although its other end was open.
    private var wasClosedHere = false
    /// What libcurl may have read of it and not dealt with.
    var input = BufferedInput()

    init(
        _ endpoints: EndpointPair,
        descriptor: Int32?,
        number: Int = 0,
        openedFor origin: HTTP.Origin? = nil,
        tlsRecord: TLSRecord?,
        _ tls: HTTP.NegotiatedTLS? = nil
    ) {
        (self.endpoints, socket, self.number) = (endpoints, descriptor, number)
        (self.origin, self.tlsRecord) = (origin, tlsRecord)
        facts = HTTP.Connection(
            remoteAddress: endpoints.remote.address,
            remotePort: endpoints.remote.knownPort,
            localAddress: endpoints.local.address,
            localPort: endpoints.local.knownPort,
            tls: tls
        )
    }

    /// Its socket, if that is known, and open.
    var descriptor: Int32? { isClosed ? nil : socket }

    /// Its socket is about to be closed.
    func closed(forFlood isFlooded: Bool) {
        wasClosedHere = isFlooded || streams > 0 && isOpenFarAway
        isClosed = true
    }

    /// Why its socket is about to be closed. The other end may have closed it behind bytes that were not read.
    var closeReason: HTTP.Connection.CloseReason {
        if goAway != nil { return .goAway }
        guard let descriptor else { return .local }
        // Glibc hides POLLRDHUP, which is epoll's value.
        let ends = Int16(POLLHUP | POLLERR) | Int16(truncatingIfNeeded: EPOLLRDHUP.rawValue)
        var socket = pollfd(fd: descriptor, events: ends, revents: 0)
        return unsafe poll(&socket, 1, 0) > 0 && socket.revents & ends != 0 ? .remote : .local
    }

    /// Whether it has room for what is to be sent; one whose socket is not known has.
    var isWritable: Bool {
        guard let descriptor else { return true }
        var socket = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&socket, 1, 0) != 0
    }

    /// Whether the other end is open, or has sent what was not read.
    private var isOpenFarAway: Bool {
        guard let descriptor else { return false }
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count > 0 || count < 0 && errno == EAGAIN
    }

    // MARK: HTTP/1.1

    /// A response has ended. The server counts from the end of each, also where one does not repeat the field.
    ///
    /// - Parameter seconds: How long the server keeps the connection unused, if the response announces that.
    func answered(keepAlive seconds: Int?) {
        // A request that is sent near the end of that time would meet the server's close.
        if let seconds { keepAlive = .seconds(seconds) - min(.seconds(1), .seconds(seconds) / 2) }
        guard let keepAlive else { return }
        deadline = MonotonicTime.now + keepAlive
    }

    /// Whether it was unused for as long as its server keeps it, less a margin.
    var isOverdue: Bool {
        guard let deadline else { return false }
        return deadline <= .now
    }

    // MARK: HTTP/2

    /// A request is about to be sent: the client's streams have odd numbers, in order (RFC 9113 section 5.1.1).
    ///
    /// - Returns: The stream's number.
    func openStream() -> UInt32 {
        guard descriptor != nil else { return .max }
        streams += 1
        return streams * 2 - 1
    }

    /// Whether it has had streams.
    var hasStreams: Bool { streams > 0 }

    /// A stream that had ended was reset.
    ///
    /// - Returns: Whether no more should be on the connection from now on.
    func noteReset() -> Bool {
        resets += 1
        return resets == Self.mostResets
    }

    /// Whether so many streams were reset that the server may soon end the connection.
    var hasReachedResetLimit: Bool { resets >= Self.mostResets }

    /// nghttp2, and with it several servers, takes 1000 at once for an attack (CVE-2023-44487).
    private static let mostResets = 800

    /// The server has sent GOAWAY. It is ignored without a known socket: this object then stands for several connections
    /// (``ConnectionTable/withoutSocket(at:)``), and their streams have no numbers.
    func ends(by goAway: GoAway) {
        if socket != nil { self.goAway = goAway }
    }

    /// The last stream that the server processes, if it has sent GOAWAY.
    var lastStream: UInt32? { goAway?.lastStream }

    /// Whether it was closed here although the server had neither ended nor closed it.
    var wasGivenUp: Bool { wasClosedHere && goAway == nil }
}

/// That a server ends a connection of HTTP/2 (RFC 9113 section 6.8).
struct GoAway {
    /// The last stream it deals with.
    let lastStream: UInt32
    /// Why.
    let code: UInt32

    /// Why, by name, unless the server ends it in order.
    var reason: String? {
        guard code != 0 else { return nil }
        let name = Int(code) < Self.names.count ? Self.names[Int(code)] : "unknown"
        return "The server ended the connection with the GOAWAY \(name) (\(code))."
    }

    /// The error codes (RFC 9113 section 7).
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}
