import Glibc
import NetworkStack

/// A descriptor that another thread can make readable, so that a blocked `poll` returns.
///
/// It is a socket pair, the only pipe that Swift's Glibc can make close-on-exec in one call.
final class Wakeup: Sendable {
    let descriptor: Int32
    private let far: Int32

    /// Throws `SystemCallError` when the process is out of descriptors.
    init() throws {
        let ends = try Self.socketPair(nonBlocking: true)
        descriptor = ends.near
        far = ends.far
    }

    deinit {
        close(descriptor)
        close(far)
    }

    /// Makes the descriptor readable.
    ///
    /// A full buffer is no error: it is readable already.
    func signal() {
        var byte: UInt8 = 0
        _ = send(far, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Makes the descriptor unreadable again. The caller then checks all conditions that it may stand for.
    func drain() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { scratch in
            while recv(descriptor, scratch.baseAddress, 64, 0) == 64 {}
        }
    }

    /// Blocks until it is signalled, for at most `limit`. Returns whether it was.
    func wait(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        while case let left = deadline - .now, left > .zero {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, Int32(clamping: Int64(left.bounded / .milliseconds(1)) + 1)) > 0 { return true }
        }
        return false
    }

    static func socketPair(nonBlocking: Bool) throws -> (near: Int32, far: Int32) {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (nonBlocking ? SOCK_NONBLOCK.rawValue : 0)
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(type), 0, &ends) == 0 else { throw SystemCallError("socketpair") }
        return (ends[0], ends[1])
    }
}
