extension HTTP {
    /// What a server asks of whoever wants in: one member of a `WWW-Authenticate` or `Proxy-Authenticate` field
    /// (RFC 9110 section 11.3).
    public struct Challenge: Hashable, Sendable {
        /// The scheme.
        public let scheme: AuthScheme
        /// What followed the scheme's name without being a parameter, such as Negotiate's data.
        public let token: String?
        /// The parameters, their names in lower case. Of a name that comes twice, the first value is kept.
        public let parameters: [String: String]

        /// The part of the server that the credentials are for, if the challenge names it.
        public var realm: String? { parameters["realm"] }

        /// Reads the challenges of a field.
        ///
        /// - Parameter text: The field's value, or the joined values of several lines.
        /// - Returns: The challenges, in order, as far as they can be read.
        public static func list(_ text: String) -> [Challenge] {
            var reader = FieldReader(text)
            var challenges: [Challenge] = []
            while reader.skipToMember(), let scheme = reader.token() {
                challenges.append(Challenge(scheme: AuthScheme(rawValue: scheme), reading: &reader))
            }
            return challenges
        }

        private init(scheme: AuthScheme, reading reader: inout FieldReader) {
            self.scheme = scheme
            var (token, parameters): (String?, [String: String]) = (nil, [:])
            reader.skipBlanks()
            if let found = reader.token68() {
                token = found
            } else {
                while let (name, value) = reader.parameter() {
                    if parameters[name] == nil { parameters[name] = value }
                    // The comma may part two parameters or two challenges: only what follows tells.
                    guard reader.skipToMember() else { break }
                }
            }
            (self.token, self.parameters) = (token, parameters)
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

    /// `name=value` with blanks allowed around the sign, or `nil`, having passed over nothing.
    fileprivate mutating func parameter() -> (name: String, value: String)? {
        var ahead = self
        guard let name = ahead.token() else { return nil }
        ahead.skipBlanks()
        guard ahead.take(UInt8(ascii: "=")) else { return nil }
        ahead.skipBlanks()
        guard let value = ahead.parameterValue() else { return nil }
        self = ahead
        return (name.asciiLowercased, value)
    }

    /// A token68 that makes a whole member of the list, or `nil`, having passed over nothing.
    fileprivate mutating func token68() -> String? {
        var ahead = self
        guard let body = ahead.text(of: { $0 == UInt8(ascii: "/") || $0.isTokenByte }) else { return nil }
        let padding = ahead.text { $0 == UInt8(ascii: "=") } ?? ""
        ahead.skipBlanks()
        guard ahead.isAtEnd || ahead.isAt(UInt8(ascii: ",")) else { return nil }
        self = ahead
        return body + padding
    }
}
