internal import Glibc
internal import NetworkStack

/// The open connections of a loop: the only place where one is looked up.
///
/// libcurl reports the two ends of a connection when it has chosen one for a request, and the socket only when it opens and
/// closes one. Nothing here decides whether a server is trusted.
final class ConnectionTable {
    private var byDescriptor: [Int32: Connection] = [:]
    @safe @exclusivity(unchecked)
    private var byEndpoints: [EndpointPair: Connection] = [:]
    /// The open sockets, and the transfer that each was opened for.
    private var openedFor: [Int32: ObjectIdentifier] = [:]
    /// The last connection that was chosen without a known socket, such as one over a Unix socket that libcurl does not number.
    private var unlisted: Connection?

    /// Passes events to the listeners, if there are any.
    private let events: EventReporter?

    init(reportingTo events: EventReporter? = nil) { self.events = events }

    /// Ends floods on connections of HTTP/2 in the clear; `nil` before the first of them.
    private(set) var floods: FloodGuard?

    /// How many connections were opened.
    private(set) var openedCount = 0
    /// How many lookups of hosts have begun.
    var lookupCount = 0
    /// The connections whose socket is known.
    var all: some Collection<Connection> { byDescriptor.values }
    /// The transfers whose sockets have not become connections yet.
    var connecting: some Sequence<ObjectIdentifier> {
        openedFor.lazy.filter { [byDescriptor] in byDescriptor[$0.key] == nil }.map(\.value)
    }

    // MARK: Sockets

    /// libcurl has opened a socket; no other program is to inherit it.
    func opened(_ descriptor: Int32, for transfer: ObjectIdentifier) {
        openedFor[descriptor] = transfer
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// A socket is about to be closed.
    func closed(_ descriptor: Int32) {
        openedFor[descriptor] = nil
        let isFlooded = floods?.closed(descriptor) ?? false
        guard let connection = byDescriptor.removeValue(forKey: descriptor) else { return }
        if let events { events.closed(connection.facts, connection.closeReason) }
        connection.closed(forFlood: isFlooded)
        if byEndpoints[connection.endpoints] === connection { byEndpoints[connection.endpoints] = nil }
    }

    /// The connection of a socket has turned out to be one of HTTP/2 in the clear.
    func guardAgainstFloods(on descriptor: Int32) {
        let floods = floods ?? FloodGuard()
        floods.opened(descriptor)
        self.floods = floods
    }

    /// Whether a socket that was opened for a transfer is still open, and has not become another transfer's since.
    func isOpen(_ descriptor: Int32, for transfer: ObjectIdentifier) -> Bool { openedFor[descriptor] == transfer }

    // MARK: Connections

    /// Adds the connection that one of a transfer's sockets has become.
    ///
    /// - Parameters:
    ///   - opened: The sockets that the transfer has opened.
    ///   - endpoints: The connection's two ends.
    ///   - origin: What the transfer asks for.
    ///   - tlsRecord: What is noted of its TLS, if it has any.
    ///   - tls: What TLS negotiated.
    /// - Returns: The connection, and the sockets that became none.
    func add(
        _ opened: [Int32],
        at endpoints: EndpointPair,
        to origin: HTTP.Origin? = nil,
        securedAs tlsRecord: TLSRecord? = nil,
        _ tls: HTTP.NegotiatedTLS? = nil
    ) -> (connection: Connection, others: [Int32]) {
        // Over a Unix socket there is one way to connect, so only one socket is opened.
        let isOurs = { (descriptor: Int32) in
            endpoints.areOfUnixSocket || Endpoint(localOf: descriptor) == endpoints.local
        }
        guard let descriptor = opened.last(where: isOurs) else { return (withoutSocket(at: endpoints), []) }
        openedCount += 1
        let connection = Connection(
            endpoints,
            descriptor: descriptor,
            number: openedCount,
            openedFor: origin,
            tlsRecord: tlsRecord,
            tls
        )
        events?.opened(connection.facts)
        byEndpoints[endpoints] = connection
        byDescriptor[descriptor] = connection
        return (connection, opened.filter { $0 != descriptor })
    }

    /// The open connection between two ends, if its socket is known.
    subscript(endpoints: EndpointPair) -> Connection? { byEndpoints[endpoints] }

    /// The connection of a socket, if a transfer has used it.
    subscript(descriptor descriptor: Int32) -> Connection? { byDescriptor[descriptor] }

    /// Stands for a connection whose socket is not known.
    func withoutSocket(at endpoints: EndpointPair) -> Connection {
        if let unlisted, unlisted.endpoints == endpoints { return unlisted }
        let connection = Connection(endpoints, descriptor: nil, tlsRecord: nil)
        unlisted = connection
        return connection
    }
}
