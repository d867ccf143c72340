internal import FoundationEssentials

extension HTTP {
    /// The names under which anyone can register a name, such as `com`, `co.uk`, `github.io` (publicsuffix.org/list). A cookie
    /// for all of such a domain would be sent to strangers, so it is refused.
    public struct PublicSuffixList: Sendable {
        private let rules: Set<String>
        private let wildcards: Set<String>
        private let exceptions: Set<String>

        /// The system's list, from Debian's package `publicsuffix`. Without it, every name without a dot is a public suffix. It
        /// is read once.
        public static let system: PublicSuffixList = {
            let text = try? String(contentsOfFile: systemPath, encoding: .utf8)
            return PublicSuffixList(text ?? "")
        }()

        /// The path of the system's list.
        public static let systemPath = "/usr/share/publicsuffix/public_suffix_list.dat"

        /// Parses a list.
        ///
        /// - Parameter text: Rules in the list's format, one per line. A name without a dot is always a public suffix.
        public init(_ text: String) {
            var (rules, wildcards, exceptions): (Set<String>, Set<String>, Set<String>) = ([], [], [])
            for line in text.split(whereSeparator: \.isNewline) {
                guard let rule = line.split(whereSeparator: \.isWhitespace).first, !rule.hasPrefix("//") else {
                    continue
                }
                if rule.hasPrefix("!") {
                    if let name = Self.canonical(rule.dropFirst()) { exceptions.insert(name) }
                } else if rule.hasPrefix("*.") {
                    if let name = Self.canonical(rule.dropFirst(2)) { wildcards.insert(name) }
                } else if let name = Self.canonical(rule) {
                    rules.insert(name)
                }
            }
            (self.rules, self.wildcards, self.exceptions) = (rules, wildcards, exceptions)
        }

        /// The number of rules, without the one for names without a dot.
        public var count: Int { rules.count + wildcards.count + exceptions.count }

        /// Returns whether anyone can register a name below this one. This includes the parent of a wildcard: `*.ck` makes `ck` a
        /// suffix.
        ///
        /// - Parameter name: A host's name in A-labels, lower case, without a dot at either end.
        /// - Returns: Whether it is a public suffix.
        public func isPublicSuffix(_ name: String) -> Bool { publicSuffix(of: name).startIndex == name.startIndex }

        /// The longest public suffix at or above a host. A longer name belongs to one site.
        ///
        /// - Parameter host: A host's name in A-labels, lower case; a final dot stays.
        /// - Returns: The suffix; the last label if the list has none.
        func publicSuffix(of host: String) -> Substring {
            var name = host[...]
            if name.utf8.last == UInt8(ascii: ".") { name = name.dropLast() }
            while let dot = name.firstIndex(of: ".") {
                let parent = name[name.index(after: dot)...]
                if exceptions.contains(String(name)) { return host[parent.startIndex...] }
                if rules.contains(String(name)) || wildcards.contains(String(name))
                    || wildcards.contains(String(parent))
                {
                    break
                }
                name = parent
            }
            return host[name.startIndex...]
        }

        private static func canonical(_ rule: Substring) -> String? {
            var labels: [String] = []
            for label in rule.split(separator: ".", omittingEmptySubsequences: false) {
                guard let encoded = Punycode.label(label), !encoded.isEmpty else { return nil }
                labels.append(encoded)
            }
            return labels.joined(separator: ".").lowercased()
        }
    }
}
