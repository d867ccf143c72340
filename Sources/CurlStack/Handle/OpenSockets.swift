internal import Glibc

/// The sockets of a loop's connections, and what is known of each connection beyond what libcurl says, by its two ends:
/// libcurl tells those when it has chosen a connection for a request, and the socket only when it opens and closes one.
final class OpenSockets {
    /// Both ends of a connection, of which no two that are open have the same. A Unix socket tells none: libcurl's number of
    /// the connection stands for one, and its pool's for the other.
    struct Ends: Hashable {
        let local: ConnectionEnd
        let remote: ConnectionEnd

        /// The ends of a connection over a network.
        init(local: ConnectionEnd, remote: ConnectionEnd) { (self.local, self.remote) = (local, remote) }

        /// The ends of a connection over a Unix socket.
        init(number: UInt32, pool: Int) {
            (local, remote) = (ConnectionEnd(ofUnixSocket: UInt64(number)), ConnectionEnd(ofUnixSocket: UInt64(pool)))
        }

        var areOfUnixSocket: Bool { local.isOfUnixSocket }
    }

    private final class Connection {
        let ends: Ends
        let descriptor: Int32
        /// What is noted of its TLS, if it has any.
        let tlsRecord: TLSRecord?
        var isOpen = true
        /// How many streams of HTTP/2 were opened.
        var streams: UInt32 = 0
        /// How many of them libcurl has reset although they had ended.
        var resets = 0
        /// How long the server keeps it once it is unused, if the server has said so.
        var keepAlive: Duration?
        /// When it is used no more if it stays unused.
        var deadline: MonotonicInstant?
        /// The GOAWAY by which the server ended the connection.
        var goAway: GoAway?
        /// Whether it was closed although its other end was open: libcurl closed it for what the server had sent.
        var isGivenUp = false

        init(_ ends: Ends, descriptor: Int32, tlsRecord: TLSRecord?) {
            (self.ends, self.descriptor, self.tlsRecord) = (ends, descriptor, tlsRecord)
        }
    }

    /// A place for a connection that was asked for lately.
    private final class Slot {
        var connection: Connection?
    }

    private var connections: [Ends: Connection] = [:]
    /// Those that were asked for last, by their ends: every request asks for its own, over HTTP/2 several times.
    private let recent = (0..<64).map { _ in Slot() }
    private var ends: [Int32: Ends] = [:]
    /// Those that are open, and the transfer each was opened for.
    private var open: [Int32: ObjectIdentifier] = [:]
    private var gone: [Ends] = []
    /// Whether any have, read alone, without a check for exclusivity.
    private var hasGone = false

    /// Whether any server has said how long it keeps a connection, read alone, without a check for exclusivity.
    private var hasDeadlines = false

    /// Ends floods on connections of HTTP/2 in the clear.
    let floods = FloodGuard()

    /// How many sockets are open.
    var count: Int { open.count }

    // MARK: Sockets

    /// libcurl has opened a socket; no other program is to inherit it.
    func opened(_ descriptor: Int32, for transfer: ObjectIdentifier) {
        open[descriptor] = transfer
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// A socket is about to be closed.
    func closed(_ descriptor: Int32) {
        open[descriptor] = nil
        let isFlooded = floods.closed(descriptor)
        if let ends = ends.removeValue(forKey: descriptor) {
            if let connection = connection(at: ends) {
                connection.isOpen = false
                connection.isGivenUp = isFlooded || connection.streams > 0 && Self.isOpenFarAway(descriptor)
            }
            gone.append(ends)
            hasGone = true
        }
    }

    /// Whether a socket that was opened for a transfer has not become another's since, nor been closed.
    func isOpen(_ descriptor: Int32, for transfer: ObjectIdentifier) -> Bool { open[descriptor] == transfer }

    /// Forgets what has been closed, once nobody can ask for it any more.
    func forgetClosed() {
        guard hasGone else { return }
        hasGone = false
        for ends in gone where connection(at: ends)?.isOpen == false {
            connections[ends] = nil
            slot(of: ends).connection = nil
        }
        gone.removeAll(keepingCapacity: true)
    }

    // MARK: Connections

    /// Notes which of the sockets a transfer opened has become its connection.
    ///
    /// - Returns: The others.
    func note(_ opened: [Int32], at ends: Ends, securedAs tlsRecord: TLSRecord? = nil) -> [Int32] {
        if opened.isEmpty { return [] }
        // Over a Unix socket there is one way to connect, so only one socket is opened.
        let isOurs = { (descriptor: Int32) in ends.areOfUnixSocket || ConnectionEnd(localOf: descriptor) == ends.local }
        if let descriptor = opened.last(where: isOurs) {
            let connection = Connection(ends, descriptor: descriptor, tlsRecord: tlsRecord)
            connections[ends] = connection
            slot(of: ends).connection = connection
            self.ends[descriptor] = ends
            return opened.filter { $0 != descriptor }
        }
        return []
    }

    private func slot(of ends: Ends) -> Slot { recent[ends.local.place % recent.count] }

    private func connection(at ends: Ends) -> Connection? {
        let slot = slot(of: ends)
        if let known = slot.connection, known.ends == ends { return known }
        guard let connection = connections[ends] else { return nil }
        slot.connection = connection
        return connection
    }

    /// What is noted of a connection's TLS.
    func tlsRecord(at ends: Ends) -> TLSRecord? { connection(at: ends)?.tlsRecord }

    /// The connection of a socket, if a transfer has used it.
    func ends(of descriptor: Int32) -> Ends? { ends[descriptor] }

    /// The socket of a connection, if that is known, and open.
    func descriptor(at ends: Ends) -> Int32? {
        guard let connection = connection(at: ends), connection.isOpen else { return nil }
        return connection.descriptor
    }

    /// Whether a connection has room for what is to be sent; one that is not known has.
    func isWritable(at ends: Ends) -> Bool {
        guard let descriptor = descriptor(at: ends) else { return true }
        var socket = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&socket, 1, 0) != 0
    }

    /// Whether a connection is known to have been closed.
    func isClosed(_ ends: Ends) -> Bool { connection(at: ends).map { !$0.isOpen } ?? false }

    /// A request is about to be sent over HTTP/2: the client's streams have odd numbers, in order (RFC 9113 section 5.1.1).
    ///
    /// - Returns: The stream's number.
    func openStream(at ends: Ends) -> UInt32 {
        guard let connection = connection(at: ends) else { return .max }
        connection.streams += 1
        return connection.streams * 2 - 1
    }

    /// A stream that had ended was reset.
    ///
    /// - Returns: Whether no more should be on the connection from now on.
    func noteReset(at ends: Ends) -> Bool {
        guard let connection = connection(at: ends) else { return false }
        connection.resets += 1
        return connection.resets == Self.mostResets
    }

    /// Whether so many streams of a connection were reset that the server may soon end it.
    func isWornOut(_ ends: Ends) -> Bool { connection(at: ends).map { $0.resets >= Self.mostResets } ?? false }

    /// nghttp2, and with it several servers, takes 1000 at once for an attack (CVE-2023-44487).
    private static let mostResets = 800

    /// An answer over HTTP/1.1 has ended. The server counts from the end of each, also where one does not repeat the field.
    ///
    /// - Parameters:
    ///   - ends: The connection.
    ///   - keepAlive: How long the server keeps it once it is unused, in seconds, if the answer says so.
    func answered(at ends: Ends, keepAlive: Int?) {
        guard keepAlive != nil || hasDeadlines, let connection = connection(at: ends) else { return }
        hasDeadlines = true
        // What is sent near the end of that time would meet the server's close.
        if let keepAlive { connection.keepAlive = .seconds(keepAlive) - min(.seconds(1), .seconds(keepAlive) / 2) }
        connection.deadline = connection.keepAlive.map { MonotonicInstant.now.after($0) }
    }

    /// Whether a connection was unused for as long as its server keeps it, less a margin.
    func isOverdue(_ ends: Ends) -> Bool {
        guard hasDeadlines, let connection = connection(at: ends), let deadline = connection.deadline else {
            return false
        }
        return connection.keepAlive == .zero || deadline <= .now
    }

    /// A connection of HTTP/2 in the clear was opened. Newer versions of libcurl come back from a flood by themselves.
    func guardAgainstFloods(at ends: Ends) {
        guard CurlLibrary.shared.readsOn, let connection = connection(at: ends) else { return }
        floods.opened(connection.descriptor)
    }

    /// Whether a socket is that of a connection of HTTP/2.
    func hasStreams(_ descriptor: Int32) -> Bool { ends[descriptor].flatMap(connection)?.streams ?? 0 > 0 }

    /// Whether a connection is known to have served without HTTP/2 so far.
    func neverHadStreams(at ends: Ends) -> Bool { connection(at: ends)?.streams == 0 }

    /// The server ends a connection.
    func goingAway(_ goAway: GoAway, at ends: Ends) { connection(at: ends)?.goAway = goAway }

    /// The GOAWAY by which the server ended a connection, if it did.
    func goAway(at ends: Ends) -> GoAway? { connection(at: ends)?.goAway }

    /// The last stream the server deals with, if it has said that it ends the connection.
    func lastStream(at ends: Ends) -> UInt32? { connection(at: ends)?.goAway?.lastStream }

    /// Whether a connection of HTTP/2 was closed here although the server had neither ended nor closed it.
    func wasGivenUp(_ ends: Ends) -> Bool { connection(at: ends).map { $0.isGivenUp && $0.goAway == nil } ?? false }

    /// Whether the other end of a socket is open, or has sent what was not read.
    private static func isOpenFarAway(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count > 0 || count < 0 && errno == EAGAIN
    }
}
