extension HTTP {
    /// One authentication challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 section 11.3).
    public struct Challenge: Hashable, Sendable {
        /// The scheme.
        public let scheme: AuthScheme
        /// The token68 after the scheme's name, such as Negotiate's data.
        public let token: String?
        /// The parameters, with names in lower case. If a name occurs twice, the first value counts.
        public private(set) var parameters: [String: String]

        /// The protection space that the credentials are for, if the challenge names one.
        public var realm: String? { parameters["realm"] }

        /// Parses the challenges of a field.
        ///
        /// Members that are neither a challenge nor a parameter of one are dropped, and so are parameters without a value.
        ///
        /// - Parameter text: The field's value, or the joined values of several lines.
        /// - Returns: The challenges, in order.
        public static func list(_ text: String) -> [Challenge] { parse(text).map(\.challenge) }

        /// The challenges of a field, and whether each has blanks around an equals sign.
        package static func parse(_ text: String) -> [(challenge: Challenge, hasBlanks: Bool)] {
            var reader = FieldReader(text)
            var challenges: [(challenge: Challenge, hasBlanks: Bool)] = []
            while reader.skipToMember() {
                // A comma separates two parameters or two challenges; what follows decides.
                if !reader.isAtParameter, let scheme = reader.scheme() {
                    let challenge = Challenge(scheme: AuthScheme(rawValue: scheme), token: reader.token68())
                    challenges.append((challenge, hasBlanks: false))
                }
                while let parameter = reader.parameter() {
                    guard let last = challenges.indices.last else { continue }
                    if parameter.hasBlanks { challenges[last].hasBlanks = true }
                    if let value = parameter.value { challenges[last].challenge.take(value, for: parameter.name) }
                }
                _ = reader.text(to: UInt8(ascii: ","))
            }
            return challenges
        }

        private init(scheme: AuthScheme, token: String?) {
            (self.scheme, self.token, parameters) = (scheme, token, [:])
        }

        private mutating func take(_ value: String, for name: String) {
            if parameters[name] == nil { parameters[name] = value }
        }
    }
}

extension HTTP.Challenge: CustomStringConvertible, CustomReflectable {
    /// The parameters that explain a challenge and are no part of its answer (RFC 7616 section 3.3, RFC 6750 section 3).
    private static let shownParameters: Set<String> = [
        "algorithm", "charset", "error", "qop", "realm", "scope", "stale", "userhash",
    ]

    /// The scheme and the parameters, such as `Digest nonce=<redacted>, realm=users`. Only the values of parameters that explain the
    /// challenge are shown; a nonce, an opaque text and a token68 are not.
    public var description: String {
        var parts = token == nil ? [] : ["<redacted>"]
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            parts.append("\(name)=\(Self.shownParameters.contains(name) ? value : "<redacted>")")
        }
        return parts.isEmpty ? "\(scheme)" : "\(scheme) \(parts.joined(separator: ", "))"
    }

    /// The description, so that a dump shows no nonce.
    public var customMirror: Mirror { Mirror(self, children: [("challenge", description)]) }
}

extension HTTP.Headers {
    /// The challenges in `WWW-Authenticate`, in order.
    public var challenges: [HTTP.Challenge] {
        values(for: .wwwAuthenticate).flatMap { HTTP.Challenge.list($0) }
    }
}

extension FieldReader {
    /// Skips commas and blanks; returns whether anything follows.
    fileprivate mutating func skipToMember() -> Bool {
        repeat { skipBlanks() } while take(UInt8(ascii: ","))
        return !isAtEnd
    }

    /// A scheme's name and the blanks after it; `nil`, without moving, if there is none.
    fileprivate mutating func scheme() -> String? {
        var ahead = self
        guard let name = ahead.token(), ahead.isAtBlank || ahead.isAtMembersEnd else { return nil }
        ahead.skipBlanks()
        self = ahead
        return name
    }

    /// Whether `name=` is next, with optional blanks around the sign.
    fileprivate var isAtParameter: Bool {
        var ahead = self
        return ahead.parameterName() != nil
    }

    /// `name=value`, with optional blanks around the sign. The value is `nil` if it is broken. `nil` if `name=` is not next.
    fileprivate mutating func parameter() -> (name: String, value: String?, hasBlanks: Bool)? {
        guard let (name, hasBlanks) = parameterName() else { return nil }
        defer { skipBlanks() }
        return (name, parameterValue(), hasBlanks)
    }

    /// `name=`, with optional blanks around the sign; `nil`, without moving, if there is none.
    private mutating func parameterName() -> (name: String, hasBlanks: Bool)? {
        var ahead = self
        guard let name = ahead.token() else { return nil }
        var hasBlanks = ahead.isAtBlank
        ahead.skipBlanks()
        guard ahead.take(UInt8(ascii: "=")) else { return nil }
        hasBlanks = hasBlanks || ahead.isAtBlank
        ahead.skipBlanks()
        self = ahead
        return (name.asciiLowercased, hasBlanks)
    }

    /// A token68 that is a whole member of the list; `nil`, without moving, if there is none.
    fileprivate mutating func token68() -> String? {
        var ahead = self
        guard let body = ahead.text(of: { $0 == UInt8(ascii: "/") || $0.isTokenByte }) else { return nil }
        let padding = ahead.text { $0 == UInt8(ascii: "=") } ?? ""
        ahead.skipBlanks()
        guard ahead.isAtMembersEnd else { return nil }
        self = ahead
        return body + padding
    }

    private var isAtMembersEnd: Bool { isAtEnd || isAt(UInt8(ascii: ",")) }
}
