internal import NetworkStack

extension ConnectionQueue.Host {
    /// What a hop shares a connection by.
    init(_ hop: HTTPHop, _ quirks: LibcurlQuirks) {
        self.init(
            origin: hop.origin,
            version: hop.spokenVersion,
            isShared: !hop.needsOwnConnection(quirks),
            sharesOnceAnswered: hop.sharesOnceAnswered(quirks)
        )
    }
}

extension ConnectionQueue {
    /// What was observed of a host.
    struct HostHints {
        /// Whether it has sent more content at once than libcurl's usual buffer holds.
        var sendsMuch = false
        /// Whether it has answered with HTTP/2 in a status line of HTTP/1.1.
        var misstatesVersion = false
        /// Whether it has announced the length of every body that it sent over HTTP/2; `nil` before the first.
        var announcesLengths: Bool?
    }

    /// The queue of a hop's host.
    mutating func hostQueue(of hop: HTTPHop) -> HostQueue { hostQueue(of: Host(hop, quirks)) }
}
