internal import FoundationEssentials

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

        /// The value of `Authorization` for Basic authentication (RFC 7617).
        func basic() throws(HTTP.InvalidValue) -> String {
            guard !user.utf8.contains(UInt8(ascii: ":")) else {
                throw HTTP.InvalidValue("A user's name has no colon with Basic authentication (RFC 7617 section 2).")
            }
            guard isLegal else {
                throw HTTP.InvalidValue("A user's name and password have no control characters (RFC 7617 section 2).")
            }
            return AuthScheme.basic.credentials(Data("\(user):\(password)".utf8).base64EncodedString())
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
