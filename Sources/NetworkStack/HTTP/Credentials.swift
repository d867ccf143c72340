extension HTTP {
    /// A user's name and password. Descriptions do not show them.
    public struct Credentials: Sendable, Hashable {
        /// The user's name.
        public var user: String
        /// The password.
        public var password: String

        /// Makes credentials.
        ///
        /// - Parameters:
        ///   - user: The user's name; without control characters.
        ///   - password: The password; without control characters.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// Whether they may be sent. A control character would be cut off or could forge a field.
        var isLegal: Bool { (user + password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    }
}

extension HTTP.Credentials: CustomStringConvertible, CustomReflectable {
    /// A fixed text without name and password.
    public var description: String { "<redacted>" }

    /// An empty mirror, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
