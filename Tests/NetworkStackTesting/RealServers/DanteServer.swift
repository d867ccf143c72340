import FoundationEssentials

/// dante on 127.0.0.1: a SOCKS 5 and SOCKS 4 proxy.
public final class DanteServer: Sendable {
    /// Which clients it serves.
    public enum Access: Sendable {
        /// All, without authentication.
        case everybody
        /// Users of this system, with name and password. SOCKS 4 has no password.
        case users
        /// None: a rule denies every request.
        case nobody
    }

    private let access: Access
    private let process: ServerProcess

    /// Whether the system has a package of dante; Debian 13 has none. Elsewhere a missing dante is an error.
    public static var isObtainable: Bool {
        !Program.candidates("danted").isEmpty
            || (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8))?.contains("VERSION_CODENAME=trixie\n")
                != true
    }

    /// Makes the directory; nothing runs yet.
    ///
    /// Throws `SystemCallError`.
    public init(_ access: Access = .everybody) throws {
        self.access = access
        process = try ServerProcess("dante")
    }

    /// Starts dante and returns when it accepts connections.
    ///
    /// Throws `TestServerError`: it is missing (with the package to install) or does not start (with its log).
    public func start() async throws {
        let program = try Program("danted", package: "dante-server")
        let folder = process.folder
        try await process.start(portCount: 1) { ports in
            let file = try folder.write("danted.conf", configuration(port: ports[0]))
            return .init(program: program, arguments: ["-p", folder.file("pid"), "-f", file])
        }
    }

    /// Kills dante and its children at once.
    public func stop() { process.stop() }

    /// The port; 0 before the first start.
    public var port: UInt16 { process.ports.first ?? 0 }

    /// The destinations of clients, as `127.0.0.1:80`, after names were resolved.
    ///
    /// They are read from lines such as `info: pass(1): tcp/connect [: 127.0.0.1.42512 127.0.0.1.10811 -> 127.0.0.1.46763
    /// 127.0.0.1.80`.
    public var destinations: [String] {
        process.lines.filter { $0.contains("pass(") }.compactMap { line in
            guard let arrow = line.firstRange(of: " -> ") else { return nil }
            let words = line[arrow.upperBound...].split(separator: " ")
            guard words.count > 1, let dot = words[1].lastIndex(of: ".") else { return nil }
            let port = words[1][words[1].index(after: dot)...].prefix { $0.isNumber }
            return "\(words[1][..<dot]):\(port)"
        }
    }

    /// Suspends until the destinations satisfy the condition and returns them; throws `WaitTimedOut` after 10 s.
    @discardableResult
    public func waitForDestinations(_ condition: ([String]) -> Bool) async throws -> [String] {
        try await process.wait(within: .seconds(10), for: { destinations }, until: condition)
    }

    private func configuration(port: UInt16) -> String {
        """
        logoutput: stdout
        internal: 127.0.0.1 port = \(port)
        external: 127.0.0.1
        clientmethod: none
        socksmethod: \(access == .users ? "username" : "none")
        client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
        socks \(access == .nobody ? "block" : "pass") { from: 127.0.0.0/8 to: 0.0.0.0/0
            log: connect error }

        """
    }
}
