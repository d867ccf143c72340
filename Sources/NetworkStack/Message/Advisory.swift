extension HTTP {
    /// A published vulnerability of the library below a stack, in the version that the process runs with
    /// (``Capabilities/advisories``).
    public struct Advisory: Sendable, Hashable, CustomStringConvertible {
        /// How bad it is, in the words of those who published it.
        public enum Severity: String, Sendable, Hashable, CaseIterable {
            /// Hard to exploit, or of little use.
            case low
            /// Exploitable in some programs.
            case medium
            /// Exploitable in many programs.
            case high
            /// Exploitable in most programs.
            case critical
        }

        /// Its name, such as `CVE-2023-38545`.
        public let id: String
        /// What is wrong, in a sentence.
        public let summary: String
        /// How bad it is.
        public let severity: Severity
        /// The oldest version that has it.
        public let firstVersion: String
        /// The newest version that has it.
        public let lastVersion: String
        /// Where it is described.
        public let link: String

        /// Makes an advisory.
        ///
        /// - Parameters:
        ///   - id: Its name, such as `CVE-2023-38545`.
        ///   - summary: What is wrong, in a sentence.
        ///   - severity: How bad it is.
        ///   - firstVersion: The oldest version that has it.
        ///   - lastVersion: The newest version that has it.
        ///   - link: Where it is described.
        public init(
            id: String,
            summary: String,
            severity: Severity,
            firstVersion: String,
            lastVersion: String,
            link: String
        ) {
            (self.id, self.summary, self.severity, self.link) = (id, summary, severity, link)
            (self.firstVersion, self.lastVersion) = (firstVersion, lastVersion)
        }

        /// The advisory in one line.
        public var description: String {
            "\(id) (\(severity.rawValue), \(firstVersion) to \(lastVersion)): \(summary) \(link)"
        }
    }
}
