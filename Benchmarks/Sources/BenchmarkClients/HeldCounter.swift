#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Asks the benchmark's own server, over a bare socket, how many responses it holds open: not the client's business.
struct HeldCounter {
    private let port: UInt16
    private let path: String

    /// Reads a URL of the form `http://127.0.0.1:port/path`.
    init?(_ url: String) {
        let parts = url.split(separator: "/", maxSplits: 2)
        guard parts.count == 3, let port = parts[1].split(separator: ":").last.flatMap({ UInt16($0) }) else {
            return nil
        }
        self.port = port
        path = "/" + parts[2]
    }

    /// How many the server says, or 0 if it does not answer.
    func count() -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return 0 }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, 0) == request.count else { return 0 }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { answer += buffer[..<count] }
        let text = String(decoding: answer, as: UTF8.self)
        return text.split(separator: "\r\n", omittingEmptySubsequences: true).last.flatMap { Int($0) } ?? 0
    }
}
