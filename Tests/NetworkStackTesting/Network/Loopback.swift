import Glibc

/// The two loopback addresses a test server can live on.
public enum Loopback: Sendable, Equatable {
    /// `127.0.0.1`
    case v4
    /// `::1`
    case v6

    /// The address as text, without brackets.
    public var address: String { self == .v4 ? "127.0.0.1" : "::1" }

    /// The address as it is written in a URL.
    public var urlHost: String { self == .v4 ? "127.0.0.1" : "[::1]" }

    var family: Int32 { self == .v4 ? AF_INET : AF_INET6 }

    /// Lends the C address for `port`: C wants a pointer whose size depends on the family.
    func withAddress<R>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        switch self {
        case .v4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .v6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }
}
