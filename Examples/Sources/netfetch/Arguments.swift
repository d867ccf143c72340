import ArgumentParser
import Foundation
import NetworkStack

extension NameSpecification {
    /// A short name and a long one.
    static func both(_ short: Character, _ long: String) -> NameSpecification {
        [.customShort(short), .customLong(long)]
    }
}

/// How a fetch is carried out.
struct TransferArguments: ParsableArguments {
    @Option(
        name: .both("m", "max-time"),
        parsing: .unconditional,
        help: ArgumentHelp("Seconds for the whole fetch, its retries included", valueName: "seconds")
    )
    var maxTime: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds for looking up, connecting and TLS", valueName: "seconds")
    )
    var connectTimeout: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Redirects to follow, at most; -1 for 100", valueName: "number")
    )
    var maxRedirs = 20

    @Flag(name: [.customLong("no-location")], help: "Follow no redirect")
    var followsNone = false

    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects (the default)")
    var follows = false

    @Option(parsing: .unconditional, help: ArgumentHelp("Bytes of content to accept, at most", valueName: "bytes"))
    var maxFilesize: Int64?

    @Option(
        name: .customLong("retry"),
        parsing: .unconditional,
        help: ArgumentHelp("Try again so often after what may pass", valueName: "number")
    )
    var retries = 0

    @Flag(name: .customLong("compressed"), help: "Ask for compressed content and decompress it")
    var decompresses = false

    @Flag(name: .customLong("http1.1"), help: "Speak HTTP/1.1")
    var http1 = false

    @Flag(name: .customLong("http2"), help: "Speak HTTP/2 where https negotiates it (the default)")
    var http2 = false

    @Flag(name: .customLong("http2-prior-knowledge"), help: "Speak HTTP/2 without asking, also over http")
    var http2PriorKnowledge = false

    func validate() throws {
        guard (maxTime ?? 0) >= 0, (connectTimeout ?? 0) >= 0, (maxFilesize ?? 0) >= 0, retries >= 0 else {
            throw ValidationError("-m, --connect-timeout, --max-filesize and --retry must not be negative")
        }
        guard [http1, http2, http2PriorKnowledge].filter({ $0 }).count < 2 else {
            throw ValidationError("--http1.1, --http2 and --http2-prior-knowledge each name the version; choose one")
        }
        guard maxRedirs >= -1 else { throw ValidationError("--max-redirs must be at least 0, or -1 for 100") }
    }

    /// The most that the library follows.
    private static let mostRedirects = 100

    /// The library's options.
    func options() -> HTTP.Options {
        var options = HTTP.Options.raw
        options.redirects.limit = followsNone ? 0 : maxRedirs < 0 ? Self.mostRedirects : maxRedirs
        options.timeouts.limit(total: maxTime, connect: connectTimeout)
        if let maxFilesize { options.limits.body = maxFilesize }
        options.decompresses = decompresses
        if http2PriorKnowledge { options.version = .http2PriorKnowledge }
        if http1 { options.version = .http1_1 }
        return options
    }
}

/// What the connection is like.
struct ConnectionArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The client below: curl or urlsession", valueName: "stack"))
    var stack = StackChoice.Backend.curl

    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp("Trust the authorities of this PEM file only, of an https proxy, too", valueName: "file")
    )
    var authorities: String?

    @Flag(name: [.customShort("k"), .customLong("insecure")], help: "Verify no certificate (for tests)")
    var isInsecure = false

    @Option(
        name: .both("E", "cert"),
        parsing: .unconditional,
        help: ArgumentHelp("The client's certificate: PEM, or PKCS #12 (.p12, .pfx)", valueName: "file[:password]")
    )
    var certificate: String?

    @Option(help: ArgumentHelp("The client's private key, if it is not with the certificate", valueName: "file"))
    var key: String?

    @Option(
        name: .both("x", "proxy"),
        parsing: .unconditional,
        help: ArgumentHelp("The proxy: http, https, socks4, socks4a, socks5 or socks5h", valueName: "url")
    )
    var proxy: String?

    @Option(
        name: .both("U", "proxy-user"),
        parsing: .unconditional,
        help: ArgumentHelp("Credentials for the proxy", valueName: "name:password")
    )
    var proxyUser: String?

    @Option(name: .customLong("noproxy"), help: ArgumentHelp("Hosts that are reached without it", valueName: "list"))
    var noProxy: String?

    @Option(help: ArgumentHelp("Connect to this Unix socket", valueName: "path"))
    var unixSocket: String?

    @Option(help: ArgumentHelp("Connect to this abstract Unix socket", valueName: "name"))
    var abstractUnixSocket: String?

    @Option(
        name: .customLong("resolve"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A host's addresses", valueName: "host:port:address[,address]")
    )
    var overrides: [String] = []

    @Option(
        name: .customLong("connect-to"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Where to connect to instead", valueName: "host:port:host:port")
    )
    var reroutes: [String] = []

    @Option(
        name: .customLong("pin"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Public keys a host must have; others are then not trusted", valueName: "domain=hash[,hash]")
    )
    var pins: [String] = []

    @Flag(name: .customLong("pin-include-subdomains"), help: "The pins go for the hosts below, too")
    var pinsSubdomains = false

    @Flag(name: .customLong("pin-leaf"), help: "The server's own key must be pinned, not one of its chain")
    var pinsLeaf = false

    @Option(help: ArgumentHelp("A pinning configuration in JSON", valueName: "file"))
    var pinning: String?

    @Flag(name: .customLong("report-only"), help: "Tell of keys that are not pinned, and go on")
    var onlyReports = false

    func validate() throws {
        guard key == nil || certificate != nil else { throw ValidationError("--key is of no use without --cert") }
        guard unixSocket == nil || abstractUnixSocket == nil else {
            throw ValidationError("--unix-socket and --abstract-unix-socket each say where to connect to; choose one")
        }
        guard !pins.isEmpty || !pinsLeaf && !pinsSubdomains else {
            throw ValidationError("--pin-leaf and --pin-include-subdomains are of no use without --pin")
        }
    }

    /// The stack that does this.
    func choice() throws -> StackChoice {
        var choice = StackChoice()
        choice.backend = stack
        choice.authorities = authorities
        choice.verifies = !isInsecure
        if let certificate {
            // As curl has it: what follows a colon is the password.
            let parts = certificate.split(separator: ":", maxSplits: 1)
            choice.certificate = parts.first.map(String.init)
            choice.passphrase = parts.count > 1 ? String(parts[1]) : nil
        }
        choice.key = key
        (choice.proxy, choice.proxyUser, choice.noProxy) = (proxy, proxyUser, noProxy)
        (choice.unixSocket, choice.abstractSocket) = (unixSocket, abstractUnixSocket)
        (choice.overrides, choice.reroutes) = (overrides, reroutes)
        choice.pins = try pins.map { text in
            guard var pins = StackChoice.Pins(text) else {
                throw ValidationError("'\(text)' is not of the form DOMAIN=HASH[,HASH]")
            }
            pins.includesSubdomains = pinsSubdomains
            if pinsLeaf { pins.scope = .leaf }
            return pins
        }
        choice.pinning = try pinning.map { try LocalFile.read($0) }
        choice.onlyReports = onlyReports
        return choice
    }
}

extension StackChoice.Backend: ExpressibleByArgument {}

/// Many fetches.
struct SeveralArguments: ParsableArguments {
    @Option(
        name: .customLong("parallel"),
        parsing: .unconditional,
        help: ArgumentHelp("How many fetches may be under way at once", valueName: "number")
    )
    var width: Int?

    @Option(
        name: .customLong("repeat"),
        parsing: .unconditional,
        help: ArgumentHelp("Fetch every URL so many times", valueName: "number")
    )
    var times = 1

    @Flag(name: .customLong("batch"), help: "Take requests from standard input, a JSON object a line (see BATCH)")
    var isBatch = false

    func validate() throws {
        guard (width ?? 1) > 0, times > 0 else {
            throw ValidationError("--parallel and --repeat must be at least 1")
        }
        let most = 1_000_000_000
        guard (width ?? 1) <= most, times <= most else {
            throw ValidationError("--parallel and --repeat must be at most 1,000,000,000")
        }
    }
}

extension HTTP.Options {
    /// The library's options, with content of any length delivered as it comes, and none needed.
    fileprivate static var raw: HTTP.Options {
        var options = HTTP.Options()
        options.decompresses = false
        options.allowsEmptyBody = true
        options.limits.body = .max
        // More than curl's versions of today take, which stop at 5000.
        options.limits.headFields = 6000
        return options
    }
}

extension HTTP.Options.Timeouts {
    /// Bounds the whole and the connecting, in seconds; 0 and `nil` are no bound. Who allows a fetch a longer time than the
    /// idle clock does allows it to be idle for as long.
    mutating func limit(total: Double?, connect: Double? = nil) {
        if let total, total != 0 {
            let bound = Duration.seconds(min(total, 1e9))
            self.total = bound
            idle = max(idle, bound)
        }
        if let connect, connect != 0 { self.connect = .seconds(min(connect, 1e9)) }
    }
}
