internal import NetworkStack

extension ConnectionQueue.Host {
    /// What a hop shares a connection by.
    init(_ hop: HTTPHop) {
        self.init(
            origin: hop.origin,
            version: hop.spokenVersion,
            isShared: !hop.needsOwnConnection,
            sharesOnceAnswered: hop.sharesOnceAnswered
        )
    }
}

extension ConnectionQueue {
    /// The line of a hop's host.
    mutating func line(of hop: HTTPHop) -> Line {
        if let recentLine, recentHop === hop { return recentLine }
        let line = line(of: Host(hop))
        recentHop = hop.servesAgain ? hop : nil
        return line
    }
}
