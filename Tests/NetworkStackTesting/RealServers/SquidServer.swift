import Glibc

/// squid on 127.0.0.1 as a forward proxy without a cache: one port without TLS, one with TLS.
public final class SquidServer: Sendable {
    /// How squid is configured.
    public struct Options: Sendable {
        /// A user and a password that every client has to send; `nil` for no authentication.
        public var credentials: (user: String, password: String)?
        /// The certificate of the TLS port; nil: `TestCertificates.shared().server`.
        public var identity: TLSIdentity?
        /// Whether squid answers every request with 403.
        public var deniesAll = false

        /// The defaults.
        public init() {}
    }

    private let options: Options
    private let process: ServerProcess

    /// Makes the directory; nothing runs yet.
    ///
    /// Throws `SystemCallError`.
    public init(_ options: Options = Options()) throws {
        self.options = options
        process = try ServerProcess("squid")
    }

    /// Starts squid and returns when it accepts connections.
    ///
    /// Throws `TestServerError`: squid is missing (with the package to install) or does not start (with its log).
    public func start() async throws {
        let program = try Program("squid", package: "squid")
        let identity = try options.identity ?? TestCertificates.shared().server
        let folder = process.folder
        // If root starts it, squid changes to another user, who needs access to the files.
        chmod(folder.path, 0o777)
        for (name, path) in [("chain.pem", identity.certificateChainFile), ("key.pem", identity.keyFile)] {
            chmod(try folder.write(name, WrittenFile(path: path).text), 0o644)
        }
        try folder.write("helper.sh", helper)
        try await process.start(portCount: 2) { ports in
            let file = try folder.write("squid.conf", configuration(ports))
            return .init(program: program, arguments: ["-N", "-f", file])
        }
    }

    /// Kills squid at once.
    public func stop() { process.stop() }

    /// The port without TLS; 0 before the first start.
    public var port: UInt16 { process.ports.first ?? 0 }
    /// The port with TLS; 0 before the first start.
    public var tlsPort: UInt16 { process.ports.dropFirst().first ?? 0 }

    /// squid's log of finished requests: method, URL and status, as `GET http://... 200`.
    public var log: [String] {
        // The check for readiness opens connections without a request, which squid logs, too.
        WrittenFile(path: process.folder.file("access.log")).text.split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("- ") }
    }

    /// Suspends until the log satisfies the condition and returns it; throws `WaitTimedOut` after 10 s.
    @discardableResult
    public func waitForLog(_ condition: ([String]) -> Bool) async throws -> [String] {
        try await process.wait(within: .seconds(10), for: { log }, until: condition)
    }

    /// Reads `user password` lines and answers each.
    private var helper: String {
        let known = options.credentials.map { "\($0.user) \($0.password)" } ?? ""
        return "while read -r line; do if [ \"$line\" = \"\(known)\" ]; then echo OK; else echo ERR; fi; done\n"
    }

    private func configuration(_ ports: [UInt16]) -> String {
        let folder = process.folder.path
        let rule =
            options.deniesAll
            ? "http_access deny all"
            : options.credentials == nil
                ? "http_access allow all"
                : """
                auth_param basic program /bin/sh \(folder)/helper.sh
                auth_param basic realm proxy
                acl known proxy_auth REQUIRED
                http_access allow known
                http_access deny all
                """
        return """
            http_port 127.0.0.1:\(ports[0])
            https_port 127.0.0.1:\(ports[1]) tls-cert=\(folder)/chain.pem tls-key=\(folder)/key.pem
            \(rule)
            cache deny all
            logformat brief %rm %ru %>Hs
            access_log stdio:\(folder)/access.log brief
            cache_log \(folder)/cache.log
            cache_store_log none
            pid_filename none
            coredump_dir \(folder)
            netdb_filename none
            pinger_enable off
            shutdown_lifetime 0 seconds
            visible_hostname squid.test
            forwarded_for delete
            hosts_file /etc/hosts

            """
    }
}
