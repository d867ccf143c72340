public import FoundationEssentials

extension HTTP {
    /// The hosts that asked to be reached over https only (RFC 6797, HSTS), the same on every stack.
    ///
    /// No stack heeds or keeps them unless its ``Network/Configuration/strictTransport`` is set. Then a request for such a
    /// host over http goes out over https, its port 80 becoming 443, whether it is the fetch's own or a redirect's; no
    /// byte goes out in the clear. A host is noted only when it says so over https.
    public final class StrictTransportHosts: Sendable {
        /// A host that asked for it.
        public struct Host: Hashable, Sendable {
            /// The host's name.
            public let name: String
            /// Until when it counts.
            public let expires: Date
            /// Whether it counts for the hosts below it, too.
            public let includesSubdomains: Bool

            /// Describes a host.
            ///
            /// - Parameters:
            ///   - name: The host's name; capitals are lowered, and one dot at the end is left out.
            ///   - expires: Until when it counts.
            ///   - includesSubdomains: Whether it counts for the hosts below it, too.
            public init(name: String, expires: Date, includesSubdomains: Bool) {
                let name = name.asciiLowercased
                self.name = name.utf8.last == UInt8(ascii: ".") ? String(name.utf8.dropLast()) ?? name : name
                self.expires = expires
                self.includesSubdomains = includesSubdomains
            }
        }

        /// Hosts that are kept; those that end soonest go first.
        private static let limit = 10_000

        private let known = Lock<[String: Host]>([:])
        private let clock: @Sendable () -> Date

        /// Knows no host yet.
        ///
        /// - Parameter clock: Tells the time. It is called within fetches, by whoever began one and on threads that the stack
        ///   needs: it must neither block nor use a stack or these hosts.
        public init(clock: @escaping @Sendable () -> Date = { Date() }) { self.clock = clock }

        /// The hosts that count now, by name.
        public var hosts: [Host] {
            let now = clock()
            return known.withLock { $0.values.filter { $0.expires > now } }.sorted { $0.name < $1.name }
        }

        /// Whether a host is to be reached over https only (section 8.2).
        ///
        /// - Parameter host: The host's name, without a dot at its end; an address never is.
        /// - Returns: Whether it, or one above it that speaks for it, asked so.
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

        /// Notes a host of one's own, such as one that is to be reached over https from the first time on.
        ///
        /// - Parameter host: The host; one whose time is over is forgotten, and an address is passed over, as is what is no
        ///   host's name.
        public func note(_ host: Host) { note(host, unlessKnownForLonger: false) }

        private func note(_ host: Host, unlessKnownForLonger isModest: Bool) {
            // A file says a blank, the end of a line and a leading dot otherwise.
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

        /// Heeds a response's fields; they count only over https.
        func heed(_ fields: [String], from origin: Origin) {
            // Only the first counts (section 8.1).
            guard origin.scheme == .https, let policy = fields.first.flatMap({ StrictTransportSecurity($0) }) else {
                return
            }
            let expires = clock().addingTimeInterval(min(Double(policy.maxAge), 1e10))
            note(Host(name: origin.host, expires: expires, includesSubdomains: policy.includesSubdomains))
        }

        // MARK: Files

        /// Writes the hosts to a file in curl's format. Only its owner can read it (mode 0600), and whoever reads it
        /// meanwhile sees the old file or the new one, whole.
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

        /// Adds the hosts of a file in curl's format. Lines that are none are passed over, and hosts that are known for as
        /// long already: an old file takes nothing away.
        ///
        /// - Parameter path: The file.
        /// - Throws: ``FileError``.
        public func load(from path: String) throws(FileError) {
            for line in try CookieFile.lines(of: path) {
                // A name, a blank, and a moment between quotes.
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

        /// The moment of `"20301231 23:59:59"`, or of `"unlimited"`.
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
