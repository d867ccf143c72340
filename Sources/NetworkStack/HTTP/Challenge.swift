extension HTTP {
    /// What a server asks of whoever wants in: one member of a `WWW-Authenticate` or `Proxy-Authenticate` field
    /// (RFC 9110 section 11.3).
    public struct Challenge: Hashable, Sendable {
        /// The scheme.
        public let scheme: AuthScheme
        /// What followed the scheme's name without being a parameter, such as Negotiate's data.
        public let token: String?
        /// The parameters, their names in lower case. Of a name that comes twice, the first value is kept.
        public private(set) var parameters: [String: String]

        /// The part of the server that the credentials are for, if the challenge names it.
        public var realm: String? { parameters["realm"] }

        /// Reads the challenges of a field.
        ///
        /// A member that is neither a challenge nor a parameter of one is dropped, and so is a parameter without a value; the
        /// others count.
        ///
        /// - Parameter text: The field's value, or the joined values of several lines.
        /// - Returns: The challenges, in order.
        public static func list(_ text: String) -> [Challenge] {
            var reader = FieldReader(text)
            var challenges: [Challenge] = []
            while reader.skipToMember() {
                // The comma may separate two parameters or two challenges: only what follows shows which.
                if !reader.isAtParameter, let scheme = reader.scheme() {
                    challenges.append(Challenge(scheme: AuthScheme(rawValue: scheme), token: reader.token68()))
                }
                while let (name, value) = reader.parameter() {
                    guard let last = challenges.indices.last, let value else { continue }
                    challenges[last].take(value, for: name)
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

extension HTTP.Headers {
    /// What the server asks of whoever wants in, from `WWW-Authenticate`, in order.
    public var challenges: [HTTP.Challenge] {
        values(for: .wwwAuthenticate).flatMap { HTTP.Challenge.list($0) }
    }
}

extension FieldReader {
    /// Passes over commas and blanks; answers whether anything follows.
    fileprivate mutating func skipToMember() -> Bool {
        repeat { skipBlanks() } while take(UInt8(ascii: ","))
        return !isAtEnd
    }

    /// A scheme's name and the blanks after it, or `nil`, having passed over nothing.
    fileprivate mutating func scheme() -> String? {
        var ahead = self
        guard let name = ahead.token(), ahead.isAtBlank || ahead.isAtMembersEnd else { return nil }
        ahead.skipBlanks()
        self = ahead
        return name
    }

    /// Whether `name=` stands here, with blanks allowed around the sign.
    fileprivate var isAtParameter: Bool {
        var ahead = self
        return ahead.parameterName() != nil
    }

    /// `name=value` with blanks allowed around the sign; the value is `nil` if it is broken. `nil` if no `name=` stands here.
    fileprivate mutating func parameter() -> (name: String, value: String?)? {
        guard let name = parameterName() else { return nil }
        defer { skipBlanks() }
        return (name, parameterValue())
    }

    /// `name=` with blanks allowed around the sign, or `nil`, having passed over nothing.
    private mutating func parameterName() -> String? {
        var ahead = self
        guard let name = ahead.token() else { return nil }
        ahead.skipBlanks()
        guard ahead.take(UInt8(ascii: "=")) else { return nil }
        ahead.skipBlanks()
        self = ahead
        return name.asciiLowercased
    }

    /// A token68 that makes a whole member of the list, or `nil`, having passed over nothing.
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
