internal import Glibc

/// The sockets of a loop's connections, by the ports at their two ends: libcurl tells those when it has chosen a
/// connection for a request, and the socket only when it opens one.
final class OpenSockets {
    /// The ports at both ends of a connection.
    struct Ends: Hashable {
        let local: UInt16
        let remote: UInt16
    }

    private var descriptors: [Ends: Int32] = [:]
    private var ends: [Int32: Ends] = [:]

    init() {}

    /// Notes which of the sockets a transfer opened has become its connection.
    func note(_ opened: [Int32], at ends: Ends) {
        if opened.isEmpty { return }
        if let descriptor = opened.first(where: { Self.localPort(of: $0) == ends.local }) {
            descriptors[ends] = descriptor
            self.ends[descriptor] = ends
        }
    }

    /// A socket is about to be closed.
    func closed(_ descriptor: Int32) {
        guard let ends = ends.removeValue(forKey: descriptor), descriptors[ends] == descriptor else { return }
        descriptors[ends] = nil
    }

    /// Whether bytes wait on a connection.
    func haveBytes(at ends: Ends) -> Bool {
        guard let descriptor = descriptors[ends] else { return false }
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    private static func localPort(of descriptor: Int32) -> UInt16? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        // The port stands at the same place for both families.
        guard result == 0, address.ss_family == sa_family_t(AF_INET) || address.ss_family == sa_family_t(AF_INET6)
        else {
            return nil
        }
        return unsafe withUnsafeBytes(of: &address) {
            unsafe UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
