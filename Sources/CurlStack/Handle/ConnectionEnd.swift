internal import Glibc

/// One end of a connection: an address and a port.
struct ConnectionEnd: Hashable {
    /// The bytes of an address. No vector, which a transfer would have to be allocated in line with.
    private struct Address: Hashable {
        var start: UInt64 = 0
        var rest: UInt64 = 0
    }

    private var family: UInt16 = 0
    /// Its bytes in the order of the network, from the first on.
    private var address = Address()
    private let port: UInt16

    /// Reads what libcurl says of an end. What is no IP address, such as the path of a Unix socket, is left out.
    init(_ text: UnsafePointer<CChar>?, port: Int32) {
        self.port = UInt16(clamping: port)
        guard let text = unsafe text else { return }
        for family in [AF_INET, AF_INET6] {
            let isRead = unsafe withUnsafeMutableBytes(of: &address) { place in
                unsafe inet_pton(family, text, place.baseAddress) == 1
            }
            if isRead {
                self.family = UInt16(family)
                return
            }
        }
    }

    /// Stands for an end of a connection over a Unix socket.
    init(ofUnixSocket number: UInt64) {
        family = UInt16(AF_UNIX)
        address.start = number
        port = 0
    }

    /// Feeds what tells ends apart to a hasher in one piece: every request looks its connection up.
    func hash(into hasher: inout Hasher) { hasher.combine(address.start ^ address.rest ^ UInt64(port) << 48) }

    var isOfUnixSocket: Bool { family == UInt16(AF_UNIX) }

    /// Asks the system for a socket's local end, or `nil` if it has no IP address.
    init?(localOf descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else { return nil }
        let (start, size): (Int, Int)
        switch Int32(storage.ss_family) {
        case AF_INET: (start, size) = (4, 4)
        case AF_INET6: (start, size) = (8, 16)
        default: return nil
        }
        family = storage.ss_family
        // The port stands at the same place for both families.
        (port, address) = unsafe withUnsafeBytes(of: &storage) { bytes in
            var address = Address()
            unsafe withUnsafeMutableBytes(of: &address) { place in
                unsafe place.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + size]))
            }
            return unsafe (UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)), address)
        }
    }
}
