extension Network.Configuration {
    /// Where connections lead, and where they come from.
    public struct Addresses: Sendable, Hashable {
        /// Which addresses of a name are used.
        public enum Family: Sendable, Hashable {
            /// Both, IPv6 first; the other is tried beside it after ``happyEyeballsDelay`` (RFC 8305).
            case any
            /// IPv4 alone.
            case ipv4
            /// IPv6 alone.
            case ipv6
        }

        /// A socket of this machine that every connection is made to, whatever the URL's host is. The host still counts for
        /// everything else: the `Host` field, TLS, credentials.
        public enum UnixSocket: Sendable, Hashable {
            /// A socket in the file system, of at most 107 bytes.
            case path(String)
            /// A name in Linux's abstract namespace, of at most 106 bytes.
            case abstract(String)
        }

        /// Which addresses of a name are used.
        public var family = Family.any
        /// How long the first family may take before the other is tried beside it (`CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS`). At
        /// least a millisecond.
        public var happyEyeballsDelay = Duration.milliseconds(200)
        /// Addresses to use for names instead of those a lookup would find (`CURLOPT_RESOLVE`).
        public var hostOverrides: [HostOverride] = []
        /// Other places to connect to than those that URLs name; the first that fits counts (`CURLOPT_CONNECT_TO`).
        public var reroutes: [Reroute] = []
        /// A socket of this machine to connect to instead. Proxies, overrides and reroutes are then of no meaning.
        public var unixSocket: UnixSocket?
        /// The network interface that connections leave by, as in `eth0` (`CURLOPT_INTERFACE`), or `nil` for any.
        public var interface: String?
        /// The address of this machine that connections come from, or `nil` for any.
        public var localAddress: String?
        /// The ports that connections come from, tried in order, or `nil` for any. 1 to 65535.
        public var localPorts: ClosedRange<Int>?
        /// How long the addresses of a name are kept, in whole seconds rounded up; zero for not at all
        /// (`CURLOPT_DNS_CACHE_TIMEOUT`).
        public var dnsCacheAge = Duration.seconds(60)

        /// Makes the default: wherever names lead.
        public init() {}
    }
}

extension Network.Configuration.Addresses {
    /// The addresses of a name, instead of those a lookup would find.
    public struct HostOverride: Sendable, Hashable {
        /// The name in lower case, or `*` for every name.
        public let host: String
        /// The port the override is for.
        public let port: Int
        /// The addresses, without brackets.
        public let addresses: [String]

        /// Names a host's addresses.
        ///
        /// - Parameters:
        ///   - host: The name, or `*` for every name.
        ///   - port: The port the override is for.
        ///   - addresses: Addresses of IPv4 or IPv6, at least one.
        /// - Throws: ``HTTP/InvalidValue`` with a sentence that says what to change.
        public init(host: String, port: Int, addresses: [String]) throws(HTTP.InvalidValue) {
            self.host = try Self.name(host)
            guard (1...65535).contains(port) else { throw HTTP.InvalidValue("A port is a number from 1 to 65535.") }
            guard !addresses.isEmpty, addresses.allSatisfy({ IPAddress($0) != nil && !$0.contains("%") }) else {
                throw HTTP.InvalidValue("A name is overridden with addresses of IPv4 or IPv6, at least one, no zones.")
            }
            self.port = port
            self.addresses = addresses.map { $0.hasPrefix("[") ? String($0.dropFirst().dropLast()) : $0 }
        }

        /// Reads `host:port:address[,address]...`, as curl's `--resolve` takes it.
        ///
        /// - Parameter text: The text; an IPv6 address may stand in brackets.
        /// - Throws: ``HTTP/InvalidValue`` with a sentence that says what to change.
        public init(_ text: String) throws(HTTP.InvalidValue) {
            let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let port = Int(parts[1]) else {
                throw HTTP.InvalidValue("\"\(text)\" is not of the form host:port:address[,address].")
            }
            let addresses = parts[2].split(separator: ",").map(String.init)
            try self.init(host: String(parts[0]), port: port, addresses: addresses)
        }

        private static func name(_ host: String) throws(HTTP.InvalidValue) -> String {
            guard host != "*" else { return host }
            guard let named = try? HTTP.Target.authority(host), named.port == nil, !host.hasSuffix(":") else {
                throw HTTP.InvalidValue("\"\(host)\" is no name that could be overridden.")
            }
            let name = named.host
            // libcurl would take another override of the rest away.
            guard !name.hasPrefix("-") else {
                throw HTTP.InvalidValue("No name begins with a hyphen, as \(host) does.")
            }
            guard !name.hasPrefix("[") else {
                throw HTTP.InvalidValue("\(host) is an address, which has no others; a reroute leads elsewhere.")
            }
            return named.host
        }
    }

    /// Another place to connect to than the one that a URL names. The URL still counts for everything else.
    public struct Reroute: Sendable, Hashable {
        /// The host of the URLs that are rerouted, or `nil` for every host.
        public let host: String?
        /// Their port, or `nil` for every port.
        public let port: Int?
        /// Where to connect to: a name or an address, or `nil` for the URL's own host.
        public let toHost: String?
        /// The port to connect to, or `nil` for the URL's own.
        public let toPort: Int?

        /// Describes a reroute.
        ///
        /// - Parameters:
        ///   - host: The host of the URLs that are rerouted, or `nil` for every host.
        ///   - port: Their port, or `nil` for every port.
        ///   - toHost: Where to connect to: a name or an address, or `nil` for the URL's own host.
        ///   - toPort: The port to connect to, or `nil` for the URL's own.
        /// - Throws: ``HTTP/InvalidValue`` with a sentence that says what to change.
        public init(host: String?, port: Int?, toHost: String?, toPort: Int?) throws(HTTP.InvalidValue) {
            for case let port? in [port, toPort] where !(1...65535).contains(port) {
                throw HTTP.InvalidValue("A port is a number from 1 to 65535.")
            }
            self.host = try host.map(Self.name)
            self.toHost = try toHost.map(Self.name)
            self.port = port
            self.toPort = toPort
        }

        /// Reads `HOST1:PORT1:HOST2:PORT2`, as curl's `--connect-to` takes it; each part may be empty.
        ///
        /// - Parameter text: The text; an IPv6 address stands in brackets.
        /// - Throws: ``HTTP/InvalidValue`` with a sentence that says what to change.
        public init(_ text: String) throws(HTTP.InvalidValue) {
            var isInBrackets = false
            let parts = text.split(omittingEmptySubsequences: false) { letter in
                if letter == "[" || letter == "]" { isInBrackets = letter == "[" }
                return letter == ":" && !isInBrackets
            }
            let ports = parts.count == 4 ? [parts[1], parts[3]] : []
            guard parts.count == 4, ports.allSatisfy({ $0.isEmpty || $0.first != "+" && Int($0) != nil }) else {
                throw HTTP.InvalidValue("\"\(text)\" is not of the form HOST1:PORT1:HOST2:PORT2.")
            }
            try self.init(
                host: parts[0].isEmpty ? nil : String(parts[0]),
                port: Int(parts[1]),
                toHost: parts[2].isEmpty ? nil : String(parts[2]),
                toPort: Int(parts[3])
            )
        }

        private static func name(_ host: String) throws(HTTP.InvalidValue) -> String {
            guard let named = try? HTTP.Target.authority(host), named.port == nil, !host.hasSuffix(":") else {
                throw HTTP.InvalidValue("\"\(host)\" is no host that a connection could be rerouted from or to.")
            }
            return named.host
        }
    }

    func validate() throws(HTTP.InvalidValue) {
        guard happyEyeballsDelay >= .milliseconds(1) else {
            throw HTTP.InvalidValue(
                "The delay before the other family of addresses is tried must be a millisecond at least."
            )
        }
        guard dnsCacheAge >= .zero else { throw HTTP.InvalidValue("The age of names' addresses must not be negative.") }
        switch unixSocket {
        case .path(let path):
            guard (1...107).contains(path.utf8.count), !path.utf8.contains(0) else {
                throw HTTP.InvalidValue("The path of a Unix socket has 1 to 107 bytes.")
            }
        case .abstract(let name):
            guard (1...106).contains(name.utf8.count), !name.utf8.contains(0) else {
                throw HTTP.InvalidValue("The name of an abstract Unix socket has 1 to 106 bytes.")
            }
        case nil: break
        }
        if let interface {
            guard (1...15).contains(interface.utf8.count),
                interface.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "/") })
            else { throw HTTP.InvalidValue("The name of a network interface has 1 to 15 bytes, none of them blank.") }
        }
        if let localAddress, IPAddress(localAddress) == nil {
            throw HTTP.InvalidValue("The local address is no address of IPv4 or IPv6.")
        }
        if interface != nil, localAddress != nil {
            throw HTTP.InvalidValue("Connections come from an interface or from an address; one of the two is enough.")
        }
        if let localPorts, localPorts.lowerBound < 1 || localPorts.upperBound > 65535 {
            throw HTTP.InvalidValue("A port is a number from 1 to 65535.")
        }
    }
}
