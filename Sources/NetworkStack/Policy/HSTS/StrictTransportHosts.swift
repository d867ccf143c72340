public import FoundationEssentials

extension HTTP {
    /// The hosts that require https (RFC 6797, HSTS), the same on every stack.
    ///
    /// A stack uses HSTS only if its ``Network/Configuration/strictTransport`` is set. Then a request to such a host over http is
    /// sent over https, with port 443 instead of 80, also after a redirect; no byte is sent over http. Only a response over https
    /// can add a host.
    public final class StrictTransportHosts: Sendable {
        /// A host that requires https.
        public struct Host: Hashable, Sendable {
            /// The host's name.
            public let name: String
            /// When the requirement expires.
            public let expires: Date
            /// Whether it applies to the hosts below, too.
            public let includesSubdomains: Bool

            /// Makes a host.
            ///
            /// - Parameters:
            ///   - name: The host's name; it becomes lower case, and loses one final dot.
            ///   - expires: When the requirement expires.
            ///   - includesSubdomains: Whether it applies to the hosts below, too.
            public init(name: String, expires: Date, includesSubdomains: Bool) {
                let name = name.asciiLowercased
                self.name = name.utf8.last == UInt8(ascii: ".") ? String(name.utf8.dropLast()) ?? name : name
                self.expires = expires
                self.includesSubdomains = includesSubdomains
            }
        }

        /// The most hosts; those that expire first are removed first.
        private static let limit = 10_000

        private let known = Lock<[String: Host]>([:])
        private let clock: @Sendable () -> Date

        /// Makes an empty list.
        ///
        /// - Parameter clock: Returns the current time. It is called during fetches, on the caller's thread and on threads of the
        ///   stack, so it must neither block nor use a stack or these hosts.
        public init(clock: @escaping @Sendable () -> Date = { Date() }) { self.clock = clock }

        /// The hosts that have not expired, by name.
        public var hosts: [Host] {
            let now = clock()
            return known.withLock { $0.values.filter { $0.expires > now } }.sorted { $0.name < $1.name }
        }

        /// Returns whether a host requires https (section 8.2).
        ///
        /// - Parameter host: The host's name, without a final dot. An address never does.
        /// - Returns: `true` if the host is listed, or a host above it that includes its subdomains.
        public func requiresHTTPS(_ host: String) -> Bool {
            let host = host.asciiLowercased
            guard !CookieScope.isAddress(host) else { return false }
            let now = clock()
            return known.withLock { known in
                guard !known.isEmpty else { return false }
                var name = host[...]
                while true {
                    if let found = known[String(name)], found.expires > now,
                        found.includesSubdomains || name.count == host.count
                    {
                        return true
                    }
                    guard let dot = name.firstIndex(of: ".") else { return false }
                    name = name[name.index(after: dot)...]
                }
            }
        }

        /// Adds a host, such as one that requires https from the first request on.
        ///
        /// - Parameter host: The host. An expired one is removed from the list; an address or an illegal name is ignored.
        public func note(_ host: Host) { note(host, unlessKnownForLonger: false) }

        private func note(_ host: Host, unlessKnownForLonger isModest: Bool) {
            // A file cannot represent a blank, a line end or a leading dot.
            guard !CookieScope.isAddress(host.name), host.name.utf8.first != UInt8(ascii: "."),
                host.name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
            else { return }
            let now = clock()
            known.withLock { known in
                if isModest, host.expires <= known[host.name]?.expires ?? now { return }
                known[host.name] = host.expires > now ? host : nil
                guard known.count > Self.limit else { return }
                let kept = known.values.filter { $0.expires > now }.sorted { $0.expires > $1.expires }
                known = Dictionary(kept.prefix(Self.limit * 9 / 10).map { ($0.name, $0) }) { first, _ in first }
            }
        }

        /// Applies a response's fields; they count over https only.
        func apply(_ fields: [String], from origin: Origin) {
            // Only the first field counts (section 8.1).
            guard origin.scheme == .https, let policy = fields.first.flatMap({ StrictTransportSecurity($0) }) else {
                return
            }
            let expires = clock().addingTimeInterval(min(Double(policy.maxAge), 1e10))
            note(Host(name: origin.host, expires: expires, includesSubdomains: policy.includesSubdomains))
        }

        // MARK: Files

        /// Writes the hosts to a file in curl's format. Only its owner can read it (mode 0600). It is replaced atomically.
        ///
        /// - Parameter path: The file, which is replaced.
        /// - Throws: ``FileError``.
        public func save(to path: String) throws(FileError) {
            var text = "# Hosts to be reached over https only (RFC 6797)\n"
            for host in hosts {
                text += "\(host.includesSubdomains ? "." : "")\(host.name) \"\(Self.text(of: host.expires))\"\n"
            }
            try PrivateFile.write(Data(text.utf8), to: path)
        }

        /// Adds the hosts of a file in curl's format. Invalid lines are ignored, and so are hosts that are listed for as long
        /// already: an old file removes nothing.
        ///
        /// - Parameter path: The file.
        /// - Throws: ``FileError``.
        public func load(from path: String) throws(FileError) {
            for line in try CookieFile.lines(of: path) {
                // A name, a blank, and a quoted moment.
                let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
                    .map { String(decoding: $0, as: UTF8.self) }
                guard parts.count == 2, parts[0].utf8.first != UInt8(ascii: "#"),
                    let expires = Self.moment(of: parts[1])
                else { continue }
                let name = String(parts[0].utf8.drop { $0 == UInt8(ascii: ".") }) ?? ""
                let isAbove = parts[0].utf8.first == UInt8(ascii: ".")
                note(Host(name: name, expires: expires, includesSubdomains: isAbove), unlessKnownForLonger: true)
            }
        }

        /// A moment as `20301231 23:59:59`.
        private static func text(of moment: Date) -> String {
            let date = CalendarDate(moment)
            let digits = { (value: Int, count: Int) in String(String(value + 10_000).suffix(count)) }
            return digits(date.year, 4) + digits(date.month, 2) + digits(date.day, 2)
                + " \(digits(date.hour, 2)):\(digits(date.minute, 2)):\(digits(date.second, 2))"
        }

        /// The moment in `"20301231 23:59:59"` or `"unlimited"`.
        private static func moment(of text: String) -> Date? {
            if text == "\"unlimited\"" { return .distantFuture }
            let shape = "\"00000000 00:00:00\"".utf8
            let fits = zip(text.utf8, shape).allSatisfy { $1.isDigit ? $0.isDigit : $0 == $1 }
            guard text.utf8.count == shape.count, fits else { return nil }
            let digits = text.utf8.filter(\.isDigit).map { Int($0 - 0x30) }
            let number = { (range: Range<Int>) in digits[range].reduce(0) { $0 * 10 + $1 } }
            return CalendarDate(
                number(0..<4),
                number(4..<6),
                number(6..<8),
                number(8..<10),
                number(10..<12),
                number(12..<14)
            )?.moment
        }
    }
}
