import NetworkStack

/// The servers of the check that runs. What they have received is told where the check fails: of a fetch that did not end, it says how
/// far it came.
final class CheckPeers: Sendable {
    @TaskLocal static var current: CheckPeers?

    private let peers = Lock<[ConformancePeer]>([])

    func add(_ peer: ConformancePeer) { peers.withLock { $0.append(peer) } }

    /// A failure, and what the servers have received.
    func told(with failure: ConformanceFailure) -> ConformanceFailure {
        let received = peers.withLock { $0 }.map { peer in "\(peer.url("/")): \(peer.requests().suffix(8))" }
        return received.isEmpty ? failure : failure.adding("The servers have received \(received)")
    }
}
