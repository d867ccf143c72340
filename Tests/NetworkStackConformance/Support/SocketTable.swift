import Glibc
import NetworkStackTesting

/// The kernel's table of this machine's TCP sockets. Only it shows a connection that no server accepts.
enum SocketTable {
    /// How many sockets are connecting to an unresponsive port of the IPv4 loopback, without those that fill its queue.
    ///
    /// While other sockets open and close, one reading of the table may lack a socket, or have it twice.
    static func attempts(to port: UnresponsivePort) throws -> Int {
        let (remote, fillers) = ("0100007F:" + hexadecimal(port.port), Set(port.fillerPorts.map(hexadecimal)))
        let locals = try (0..<3).flatMap { _ in
            try read().split(separator: "\n").compactMap { line -> String? in
                let columns = line.split(separator: " ", maxSplits: 4)
                guard columns.count > 3, columns[2] == remote, columns[3] == "02" else { return nil }  // SYN_SENT
                return String(columns[1].suffix(4))
            }
        }
        return Set(locals).subtracting(fillers).count
    }

    /// How many bytes the kernel has buffered for a connection over the IPv4 loopback, in both directions and on both sides,
    /// between a server's port and a client such as `127.0.0.1:49152`.
    static func queued(between port: UInt16, and peer: String) throws -> Int {
        let client = peer.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        let ends = Set([port, client].map(hexadecimal))
        return try read().split(separator: "\n").reduce(0) { sum, line in
            let columns = line.split(separator: " ", maxSplits: 5)
            guard columns.count > 4, Set(columns[1...2].map { String($0.suffix(4)) }) == ends else { return sum }
            return sum + columns[4].split(separator: ":").reduce(0) { $0 + (Int($1, radix: 16) ?? 0) }
        }
    }

    private static func hexadecimal(_ port: UInt16) -> String {
        let digits = String(port, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// The whole table. Foundation would stop at the first short read, which is common for such files.
    private static func read() throws -> String {
        guard let file = fopen("/proc/self/net/tcp", "re") else {
            throw ConformanceFailure("The system has no table of sockets")
        }
        defer { fclose(file) }
        var (text, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { text += piece[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}
