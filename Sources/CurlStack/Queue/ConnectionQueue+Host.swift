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
    /// What a host was seen to do.
    struct Habits {
        /// Whether it has sent more content at once than libcurl's usual buffer holds.
        var sendsMuch = false
        /// Whether it has said HTTP/2 where HTTP/1.1 was spoken.
        var misstatesVersion = false
        /// Whether it has announced the length of all that it sent over HTTP/2; `nil` until it has sent something.
        var announcesLengths: Bool?
        /// Where its latest whole response came from, and the address of that as it is told.
        var address: (end: Endpoint, text: String?)?
    }

    /// The line of a hop's host.
    mutating func line(of hop: HTTPHop) -> Line {
        if let recentLine, recentHop === hop { return recentLine }
        let line = line(of: Host(hop, quirks))
        recentHop = hop.servesAgain ? hop : nil
        return line
    }
}
