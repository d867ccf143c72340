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
