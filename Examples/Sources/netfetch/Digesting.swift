import Foundation
import NetworkStack
import Synchronization

/// Keeps nothing of a fetch but the digest of its body.
final class Digesting: Receiver {
    private let digest = Mutex(SHA256())

    /// The digest of the last hop's body, in hexadecimal.
    var hexDigest: String { digest.withLock { $0.hexDigest } }

    func begins(_ hop: HTTPHop) { digest.withLock { $0 = SHA256() } }
    func received(body: Data) { digest.withLock { $0.update(data: body) } }
}
