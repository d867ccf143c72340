/// The records of a server at one moment.
public struct Snapshot: Sendable, CustomStringConvertible {
    /// Every accepted connection, in order.
    public internal(set) var connections: [ConnectionRecord] = []
    /// Every request whose head was parsed, in order of arrival over all connections.
    public internal(set) var requests: [ReceivedRequest] = []
    /// The most connections that were open at the same time.
    public internal(set) var maxOpen = 0
    /// Connections whose socket the server still holds; it may be discarding bytes after a close.
    public internal(set) var held = 0

    /// How many connections were accepted.
    public var accepted: Int { connections.count }

    /// How many connections neither side has ended.
    public var open: Int { connections.count { $0.state == .open } }

    /// Counts, then one line per connection and request (at most twenty of each), without bytes or header values.
    public var description: String {
        let lines = connections.suffix(20).map { "  \($0)" } + requests.suffix(20).map { "  \($0)" }
        let counts =
            "accepted \(accepted), open \(open), most open \(maxOpen), held \(held), requests \(requests.count)"
        return ([counts] + lines).joined(separator: "\n")
    }
}
