import NetworkStack

/// The servers of the current check. A failure reports what they received, and the progress of a fetch that did not end.
final class CheckPeers: Sendable {
    @TaskLocal static var current: CheckPeers?

    private let peers = Lock<[ConformancePeer]>([])

    func add(_ peer: ConformancePeer) { peers.withLock { $0.append(peer) } }

    /// Returns a failure with the records of the servers.
    func addRecords(to failure: ConformanceFailure) -> ConformanceFailure {
        let received = peers.withLock { $0 }.map { peer in "\(peer.url("/")): \(peer.requests().suffix(8))" }
        return received.isEmpty ? failure : failure.adding("The servers received \(received)")
    }
}
