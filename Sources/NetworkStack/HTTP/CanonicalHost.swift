/// A host in the form in which hosts are compared: `A.TEST.` is `a.test`, `127.1` is `127.0.0.1`, `[0:0:0:0:0:0:0:1]` is `::1`.
///
/// It reads numbers as libcurl does: what libcurl connects to as an address is an address here.
struct CanonicalHost: Hashable, Sendable {
    /// The host, an IPv6 address without brackets.
    let text: String
    /// Whether it is an address. An address has no subdomains.
    let isAddress: Bool

    /// The host of an origin.
    init(_ origin: HTTP.Origin) { self.init(host: origin.host) }

    /// A host as origins and proxies have it: legal, in lower case, without a final dot.
    init(host: String) {
        switch host.utf8.first {
        case UInt8(ascii: "["):
            self.init(text: IPAddress(host)?.canonicalText ?? host, isAddress: true)
        case let first? where first.isDigit:
            let address = IPv4Address(host.utf8)
            self.init(text: address?.description ?? host, isAddress: address != nil)
        default: self.init(text: host, isAddress: false)
        }
    }

    /// The host that a user wrote, or `nil` if it is invalid: a name beyond ASCII (write its A-label), an empty label, an illegal
    /// character, a wildcard. An IPv6 address may be in brackets.
    init?(named name: String) {
        var bytes = name.utf8[...]
        if bytes.contains(UInt8(ascii: ":")) {
            guard let address = IPAddress(name) else { return nil }
            self.init(text: address.canonicalText, isAddress: true)
            return
        }
        if bytes.last == UInt8(ascii: ".") { bytes = bytes.dropLast() }
        if let address = IPv4Address(bytes) {
            self.init(text: address.description, isAddress: true)
            return
        }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // A name whose last label has only digits is a misspelt address.
        guard bytes.count <= 253, labels.allSatisfy(Self.isLabel), labels.last?.allSatisfy(\.isDigit) == false
        else {
            return nil
        }
        self.init(text: String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self), isAddress: false)
    }

    private init(text: String, isAddress: Bool) {
        self.text = text
        self.isAddress = isAddress
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        (1...63).contains(label.count)
            && label.allSatisfy { byte in
                byte.isAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}

extension HTTP.Origin {
    /// The host as four decimal numbers, if it is an IPv4 address in any form.
    package var ipv4Address: String? {
        let host = CanonicalHost(self)
        return host.isAddress && self.host.utf8.first != UInt8(ascii: "[") ? host.text : nil
    }
}

extension IPAddress {
    /// The canonical text of an IPv6 address (RFC 5952). An IPv4-mapped address is that IPv4 address.
    fileprivate var canonicalText: String {
        let groups = stride(from: 0, to: 16, by: 2).map { (index: Int) -> UInt16 in
            UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
        }
        if groups[..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
            return IPv4Address(value: UInt32(groups[6]) << 16 | UInt32(groups[7])).description
        }
        var (longest, start) = (0..<0, 0)
        while start < 8 {
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > max(longest.count, 1) { longest = start..<end }
            start = end + 1
        }
        func text(_ part: ArraySlice<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return text(groups[...]) }
        return text(groups[..<longest.lowerBound]) + "::" + text(groups[longest.upperBound...])
    }
}

extension HTTP.Origin {
    /// The server's name in a TLS handshake; `nil` for an address.
    package var serverName: String? { CanonicalHost(self).serverName }
}

extension CanonicalHost {
    /// The host's name in a TLS handshake (SNI, RFC 6066 section 3); `nil` for an address.
    var serverName: String? { isAddress ? nil : text }
}
