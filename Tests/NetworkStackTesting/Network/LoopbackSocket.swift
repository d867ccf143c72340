import Glibc

/// A non-blocking stream socket on a loopback address that closes its descriptor when it is dropped.
final class LoopbackSocket: Sendable {
    let descriptor: Int32
    let loopback: Loopback

    /// Makes an unbound socket; throws `SystemCallError` when the process is out of descriptors or the family is off.
    init(_ loopback: Loopback) throws {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(loopback.family, type, 0)
        self.loopback = loopback
        if descriptor < 0 { throw SystemCallError("socket") }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Binds to `port` (0: the kernel chooses).
    ///
    /// `reusing`, on both the old and the new socket, lets a restarted server take the port while connections of its
    /// predecessor are in TIME_WAIT.
    func bind(port: UInt16, reusing: Bool) throws {
        if reusing { set(SOL_SOCKET, SO_REUSEADDR, 1) }
        if loopback == .v6 { set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        let result = loopback.withAddress(port: port) { Glibc.bind(descriptor, $0, $1) }
        if result != 0 { throw SystemCallError("bind to \(loopback.urlHost):\(port)") }
    }

    func listen(backlog: Int32) throws {
        if Glibc.listen(descriptor, backlog) != 0 { throw SystemCallError("listen") }
    }

    func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The bound port in host order; 0 when the socket is not bound, or is a Unix socket.
    var port: UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0, storage.ss_family != sa_family_t(AF_UNIX) else { return 0 }
        // The port sits at the same offset in both families' structures.
        return withUnsafeBytes(of: &storage) { UInt16($0[2]) << 8 | UInt16($0[3]) }
    }

    /// Where a connection came from, as `address:port`; empty when the system does not know.
    static func peer(of descriptor: Int32) -> String {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var (host, service) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 8))
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard getpeername(descriptor, address, &length) == 0 else { return Int32(-1) }
                let (hostSize, serviceSize) = (socklen_t(host.count), socklen_t(service.count))
                return getnameinfo(
                    address,
                    length,
                    &host,
                    hostSize,
                    &service,
                    serviceSize,
                    NI_NUMERICHOST | NI_NUMERICSERV
                )
            }
        }
        guard result == 0 else { return "" }
        return [host, service].map {
            String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        .joined(separator: ":")
    }

    /// Starts a connection and waits for its outcome for at most `milliseconds`.
    func connect(port: UInt16, milliseconds: Int32) -> ConnectOutcome {
        let result = loopback.withAddress(port: port) { Glibc.connect(descriptor, $0, $1) }
        if result == 0 { return .connected }
        guard errno == EINPROGRESS else { return .failed(errno) }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return .pending }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        _ = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code == 0 ? .connected : .failed(code)
    }

    enum ConnectOutcome: Equatable {
        case connected, pending
        case failed(Int32)
    }

    /// Whether connections on `port` are accepted now.
    static func isListening(_ port: UInt16, on loopback: Loopback = .v4) -> Bool {
        guard let probe = try? LoopbackSocket(loopback) else { return false }
        return probe.connect(port: port, milliseconds: 500) == .connected
    }

    /// `count` different ports that were free a moment ago, for servers that cannot take port 0.
    ///
    /// Another process may win the race for one: the caller retries on "address in use".
    static func freePorts(_ count: Int) throws -> [UInt16] {
        let sockets = try (0..<count).map { _ in
            let socket = try LoopbackSocket(.v4)
            try socket.bind(port: 0, reusing: false)
            return socket
        }
        return sockets.map(\.port)
    }
}
