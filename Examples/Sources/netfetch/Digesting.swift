import Foundation
import NetworkStack
import Synchronization

/// Keeps nothing of a fetch but the digest of its content.
final class Digesting: Receiver {
    private let digest = Mutex(SHA256())

    /// The digest of the last hop's content, in hexadecimal.
    var hexDigest: String { digest.withLock { $0.hexDigest } }

    func begins(_ request: HTTP.Request) { digest.withLock { $0 = SHA256() } }
    func entered(_ phase: HTTP.Phase) {}
    func received(informational response: HTTP.Response) {}
    func received(head response: HTTP.Response) {}
    func received(report: ServerTrustReport) {}
    func received(content: Data) { digest.withLock { $0.update(content) } }
}
