extension Network {
    /// The origins that are reached without a proxy, as in the variable `no_proxy`.
    ///
    /// | rule | excepted |
    /// |---|---|
    /// | `*` | everything |
    /// | `example.com`, `.example.com`, `*.example.com` | that name and all names below it |
    /// | `192.0.2.1`, `[2001:db8::1]` | that address |
    /// | `192.0.2.0/24`, `2001:db8::/32` | the addresses of that block (RFC 4632) |
    /// | any of the names and addresses with `:8080` | the same, on that port only |
    ///
    /// Names are not resolved: a block applies to URLs whose host is an address.
    public struct ProxyExceptions: Sendable, Hashable {
        private enum Rule: Sendable, Hashable {
            case everything
            case name(String, port: Int?)
            case block(IPAddress, bits: Int, port: Int?)
        }

        private var rules: [Rule] = []

        /// No exceptions.
        public static let none = ProxyExceptions(rules: [])

        private init(rules: [Rule]) { self.rules = rules }

        /// Parses a list of rules.
        ///
        /// - Parameter list: The rules, separated by commas or blanks.
        /// - Throws: ``HTTP/InvalidValue`` with the rule that cannot be parsed.
        public init(_ list: String) throws(HTTP.InvalidValue) {
            for text in list.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" }) {
                guard let rule = Self.rule(text) else {
                    throw HTTP.InvalidValue("\"\(text)\" is not a name, an address or a block of addresses.")
                }
                rules.append(rule)
            }
        }

        /// Returns whether an origin is reached without a proxy.
        ///
        /// - Parameter origin: The origin of a request.
        /// - Returns: Whether a rule matches it.
        public func contains(_ origin: HTTP.Origin) -> Bool {
            if rules.isEmpty { return false }
            let address = Self.address(origin.host)
            return rules.contains { rule in
                switch rule {
                case .everything: true
                case .name(let name, let port):
                    address == nil && (port ?? origin.port) == origin.port
                        && (origin.host == name || origin.host.hasSuffix("." + name))
                case .block(let block, let bits, let port):
                    (port ?? origin.port) == origin.port && (address?.isIn(block, bits: bits) ?? false)
                }
            }
        }

        /// The address that a host is, in any form: `127.1` is `127.0.0.1`.
        private static func address(_ host: String) -> IPAddress? {
            IPAddress(host) ?? IPAddress(CanonicalHost(host: host).text)
        }

        private static func rule(_ text: Substring) -> Rule? {
            if text == "*" { return .everything }
            if let slash = text.firstIndex(of: "/") {
                let digits = text[text.index(after: slash)...]
                guard let address = IPAddress(String(text[..<slash])), digits.allSatisfy(\.isNumber),
                    let bits = Int(digits), bits <= address.bytes.count * 8
                else { return nil }
                return .block(address, bits: bits, port: nil)
            }
            // An IPv6 address needs no brackets here if no port follows it.
            if let address = IPAddress(String(text)) {
                return .block(address, bits: address.bytes.count * 8, port: nil)
            }
            let name = text.hasPrefix(".") ? text.dropFirst() : text.hasPrefix("*.") ? text.dropFirst(2) : text
            guard let named = try? HTTP.Target.authority(String(name)) else { return nil }
            let (host, port) = (named.host, named.port)
            if let address = address(host) { return .block(address, bits: address.bytes.count * 8, port: port) }
            return host.hasPrefix("[") ? nil : .name(host, port: port)
        }
    }
}
