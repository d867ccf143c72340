extension Network.Configuration {
    /// The addresses to which connections are opened, and from which they come.
    public struct Addresses: Sendable, Hashable {
        /// Which addresses of a name are used.
        public enum Family: Sendable, Hashable {
            /// Both, IPv6 first; IPv4 is tried as well after ``happyEyeballsDelay`` (RFC 8305).
            case any
            /// IPv4 only.
            case ipv4
            /// IPv6 only.
            case ipv6
        }

        /// A local socket for every connection, whatever the URL's host is. The host still decides everything else: the `Host`
        /// field, TLS, credentials.
        public enum UnixSocket: Sendable, Hashable {
            /// A path in the file system, of at most 107 bytes.
            case path(String)
            /// A name in Linux's abstract namespace, of at most 106 bytes.
            case abstract(String)
        }

        /// Which addresses of a name are used.
        public var family = Family.any
        /// How long IPv6 may take before IPv4 is tried as well (`CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS`). At least a millisecond.
        public var happyEyeballsDelay = Duration.milliseconds(200)
        /// Addresses of names that replace a DNS lookup (`CURLOPT_RESOLVE`).
        public var hostOverrides: [HostOverride] = []
        /// Other destinations for URLs; the first that matches counts (`CURLOPT_CONNECT_TO`).
        public var reroutes: [Reroute] = []
        /// A local socket for every connection. Proxies, overrides and reroutes then have no effect.
        public var unixSocket: UnixSocket?
        /// The network interface of connections, such as `eth0` (`CURLOPT_INTERFACE`), or `nil` for any.
        public var interface: String?
        /// The local address of connections, or `nil` for any.
        public var localAddress: String?
        /// The local ports of connections, tried in order, from 1 to 65535; `nil` for any.
        public var localPorts: ClosedRange<Int>?
        /// How long resolved addresses are cached, rounded up to whole seconds; zero for no cache (`CURLOPT_DNS_CACHE_TIMEOUT`). A request
        /// that is repeated because its connection has died may use addresses that are older by the time that it has taken.
        public var dnsCacheAge = Duration.seconds(60)

        /// Makes the default, with which names are resolved by DNS.
        public init() {}
    }
}

extension Network.Configuration.Addresses {
    /// The addresses of a name, which replace a DNS lookup.
    public struct HostOverride: Sendable, Hashable {
        /// The name in lower case, or `*` for every name.
        public let host: String
        /// The port to which the override applies.
        public let port: Int
        /// The addresses, without brackets.
        public let addresses: [String]

        /// Makes an override.
        ///
        /// - Parameters:
        ///   - host: The name, or `*` for every name.
        ///   - port: The port to which the override applies.
        ///   - addresses: IPv4 or IPv6 addresses, at least one.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change.
        public init(host: String, port: Int, addresses: [String]) throws(HTTP.InvalidValue) {
            self.host = try Self.name(host)
            guard (1...65535).contains(port) else { throw HTTP.InvalidValue("A port is a number from 1 to 65535.") }
            guard !addresses.isEmpty, addresses.allSatisfy({ IPAddress($0) != nil && !$0.contains("%") }) else {
                throw HTTP.InvalidValue("A name is overridden with addresses of IPv4 or IPv6, at least one, no zones.")
            }
            self.port = port
            self.addresses = addresses.map { $0.hasPrefix("[") ? String($0.dropFirst().dropLast()) : $0 }
        }

        /// Parses `host:port:address[,address]...`, the format of curl's `--resolve`.
        ///
        /// - Parameter text: The text; an IPv6 address may be in brackets.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change.
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
            // libcurl would remove another override instead.
            guard !name.hasPrefix("-") else {
                throw HTTP.InvalidValue("No name begins with a hyphen, as \(host) does.")
            }
            guard !name.hasPrefix("[") else {
                throw HTTP.InvalidValue("\(host) is an address, so it has no lookup to override; use a reroute.")
            }
            return named.host
        }
    }

    /// Another destination for the connections of some URLs. The URL still decides everything else.
    public struct Reroute: Sendable, Hashable {
        /// The URL's host, or `nil` for every host.
        public let host: String?
        /// The URL's port, or `nil` for every port.
        public let port: Int?
        /// The destination: a name or an address, or `nil` for the URL's host.
        public let toHost: String?
        /// The destination's port, or `nil` for the URL's port.
        public let toPort: Int?

        /// Makes a reroute.
        ///
        /// - Parameters:
        ///   - host: The URL's host, or `nil` for every host.
        ///   - port: The URL's port, or `nil` for every port.
        ///   - toHost: The destination: a name or an address, or `nil` for the URL's host.
        ///   - toPort: The destination's port, or `nil` for the URL's port.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change.
        public init(host: String?, port: Int?, toHost: String?, toPort: Int?) throws(HTTP.InvalidValue) {
            for case let port? in [port, toPort] where !(1...65535).contains(port) {
                throw HTTP.InvalidValue("A port is a number from 1 to 65535.")
            }
            self.host = try host.map(Self.name)
            self.toHost = try toHost.map(Self.name)
            self.port = port
            self.toPort = toPort
        }

        /// Parses `HOST1:PORT1:HOST2:PORT2`, the format of curl's `--connect-to`. Each part may be empty.
        ///
        /// - Parameter text: The text; an IPv6 address is in brackets.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change.
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
        let lacking = hostOverrides.first { override in
            family != .any && !override.addresses.contains { IPAddress($0)?.bytes.count == (family == .ipv4 ? 4 : 16) }
        }
        if let lacking {
            throw HTTP.InvalidValue("The override of \(lacking.host) has no address of the family that is asked for.")
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
