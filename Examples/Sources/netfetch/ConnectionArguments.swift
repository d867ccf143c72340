import ArgumentParser
import Foundation
import NetworkStack

/// How connections are made, and which servers are trusted.
struct ConnectionArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The stack: curl or urlsession", valueName: "stack"))
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
        help: ArgumentHelp("The client's certificate: PEM, or PKCS #12 (.p12, .pfx)", valueName: "file[:password]")
    )
    var certificate: String?

    @Option(help: ArgumentHelp("The client's private key, if it is not with the certificate", valueName: "file"))
    var key: String?

    @Option(
        name: .both("x", "proxy"),
        help: ArgumentHelp("The proxy: http, https, socks4, socks4a, socks5 or socks5h", valueName: "url")
    )
    var proxy: String?

    @Option(
        name: .both("U", "proxy-user"),
        help: ArgumentHelp("Credentials for the proxy; asks for a missing password", valueName: "name[:password]")
    )
    var proxyUser: String?

    @Option(name: .customLong("noproxy"), help: ArgumentHelp("Hosts that need no proxy", valueName: "list"))
    var noProxy: String?

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Connect to IPv4 addresses only")
    var usesIPv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Connect to IPv6 addresses only")
    var usesIPv6 = false

    @Option(help: ArgumentHelp("Connect to this Unix socket", valueName: "path"))
    var unixSocket: String?

    @Option(help: ArgumentHelp("Connect to this abstract Unix socket", valueName: "name"))
    var abstractUnixSocket: String?

    @Option(
        name: .customLong("resolve"),
        help: ArgumentHelp("A host's addresses", valueName: "host:port:address[,address]")
    )
    var overrides: [String] = []

    @Option(
        name: .customLong("connect-to"),
        help: ArgumentHelp("Connect to another host or port", valueName: "host:port:host:port")
    )
    var reroutes: [String] = []

    @Option(
        name: .customLong("pin"),
        help: ArgumentHelp("Public keys a host must have; other hosts are not trusted", valueName: "domain=hash[,hash]")
    )
    var pins: [String] = []

    @Flag(name: .customLong("pin-include-subdomains"), help: "The pins apply to subdomains, too")
    var pinsSubdomains = false

    @Flag(name: .customLong("pin-leaf"), help: "The pinned key must be the server's own, not one of its chain")
    var pinsLeaf = false

    @Option(help: ArgumentHelp("A pinning configuration in JSON", valueName: "file"))
    var pinning: String?

    @Flag(name: .customLong("report-only"), help: "Report keys that are not pinned, and go on")
    var onlyReports = false

    func validate() throws {
        guard key == nil || certificate != nil else { throw ValidationError("--key needs --cert") }
        guard !usesIPv4 || !usesIPv6 else { throw ValidationError("-4 and -6 exclude each other; choose one") }
        guard unixSocket == nil || abstractUnixSocket == nil else {
            throw ValidationError("--unix-socket and --abstract-unix-socket each name a socket; choose one")
        }
        guard !pins.isEmpty || !pinsLeaf && !pinsSubdomains else {
            throw ValidationError("--pin-leaf and --pin-include-subdomains need --pin")
        }
    }

    /// Asks for a missing password.
    mutating func completeCredentials() {
        guard proxy != nil, let name = proxyUser, !name.contains(":") else { return }
        proxyUser = name + ":" + Terminal.password(of: name, for: "proxy")
    }

    /// The stack that these options choose.
    func choice() throws -> StackChoice {
        var choice = StackChoice()
        choice.backend = stack
        choice.family = usesIPv4 ? .ipv4 : usesIPv6 ? .ipv6 : .any
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
