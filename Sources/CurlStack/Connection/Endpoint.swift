internal import Glibc

/// The two ends of a connection. They identify an open connection, except one over a Unix socket with libcurl 8.2 or newer.
///
/// A Unix socket has no addresses. Before 8.2, libcurl's number of the connection stands for one end, and its pool's slot for the other
/// (``LibcurlQuirks/unnamedUnixConnection``). Since then, ``ConnectionTable/withoutSocket(at:)`` stands for the connection.
struct EndpointPair: Hashable {
    let local: Endpoint
    let remote: Endpoint
    /// Whether the ends are such numbers.
    var areOfUnixSocket = false

    /// Feeds the ports alone to a hasher, because every request looks a connection up. Connections of one host differ in them.
    func hash(into hasher: inout Hasher) { hasher.combine(local.port << 16 | remote.port) }
}

extension EndpointPair {
    /// The ends of a connection over a Unix socket.
    init(number: UInt32, slot: Int) {
        unsafe self.init(
            local: Endpoint(nil, port: Int(number)),
            remote: Endpoint(nil, port: slot),
            areOfUnixSocket: true
        )
    }
}

/// One end of a connection: an address and a port.
struct Endpoint: Hashable {
    /// The text of an IP address, as `inet_ntop` writes it for libcurl and for the system's sockets alike; `nil` without one.
    let address: String?
    fileprivate let port: Int

    /// Takes what libcurl reports of an end.
    init(_ address: UnsafePointer<CChar>?, port: Int) {
        self.address = unsafe address.map { unsafe String(cString: $0) }
        self.port = port
    }

    /// The port; `nil` without an address.
    var knownPort: Int? { address == nil ? nil : port }

    /// Whether a text is an IP address.
    static func isAddress(_ text: UnsafePointer<CChar>) -> Bool {
        var (shorter, longer) = (in_addr(), in6_addr())
        return unsafe inet_pton(AF_INET, text, &shorter) == 1 || inet_pton(AF_INET6, text, &longer) == 1
    }

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
        let family = Int32(storage.ss_family)
        let start: Int
        switch family {
        case AF_INET: start = 4
        case AF_INET6: start = 8
        default: return nil
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let port = unsafe withUnsafeBytes(of: &storage) { bytes in
            unsafe inet_ntop(family, bytes.baseAddress.map { unsafe $0 + start }, &text, socklen_t(text.count))
            // It stands at the same place for both families.
            return unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
        unsafe self.init(text, port: Int(port))
    }
}
