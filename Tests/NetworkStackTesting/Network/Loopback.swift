import Glibc

/// The loopback addresses of test servers.
public enum Loopback: Sendable, Equatable {
    /// `127.0.0.1`
    case v4
    /// `127.0.0.2`, another loopback address.
    case anotherV4
    /// `::1`
    case v6
    /// A Unix socket at this path, which must not exist yet. It has no port.
    case path(String)
    /// A Unix socket of this name in Linux's abstract namespace. It has no port.
    case abstract(String)

    /// The address as text, without brackets.
    public var address: String {
        switch self {
        case .v4: "127.0.0.1"
        case .anotherV4: "127.0.0.2"
        case .v6: "::1"
        case .path(let path): path
        case .abstract(let name): name
        }
    }

    /// The address as written in a URL. For a Unix socket any host works.
    public var urlHost: String {
        switch self {
        case .v4, .anotherV4: address
        case .v6: "[::1]"
        case .path, .abstract: "localhost"
        }
    }

    var family: Int32 {
        switch self {
        case .v4, .anotherV4: AF_INET
        case .v6: AF_INET6
        case .path, .abstract: AF_UNIX
        }
    }

    /// Calls a closure with the C address for `port`; its size depends on the family.
    func withAddress<R>(port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        switch self {
        case .v4, .anotherV4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(self == .v4 ? 0x7F00_0001 : 0x7F00_0002).bigEndian
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
        case .path(let path): return Self.withUnixAddress(Array(path.utf8) + [0], body)
        case .abstract(let name): return Self.withUnixAddress([0] + Array(name.utf8), body)
        }
    }

    private static func withUnixAddress<R>(
        _ name: [UInt8],
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.prefix($0.count)) }
        // An abstract name has no terminating zero; its length is explicit.
        let length = MemoryLayout<sa_family_t>.size + name.count
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }
}
