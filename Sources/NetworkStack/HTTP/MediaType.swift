extension HTTP {
    /// A media type with its parameters (RFC 9110 section 8.3.1), such as `text/html; charset=utf-8`, or a media range with its
    /// weight (section 12.5.1), such as `text/*; q=0.5`.
    ///
    /// Type, subtype and parameter names are kept in lower case, because case does not count in them. Parameters keep their
    /// order. Two values are equal if all of this is.
    public struct MediaType: Hashable, Sendable {
        /// One parameter.
        public struct Parameter: Hashable, Sendable {
            /// The name in lower case.
            public let name: String
            /// The value, without quotation marks.
            public let value: String

            /// Makes a parameter.
            ///
            /// - Parameters:
            ///   - name: The name; its ASCII letters become lower case.
            ///   - value: The value, without quotation marks.
            public init(name: String, value: String) {
                self.name = name.asciiLowercased
                self.value = value
            }
        }

        /// The part before the slash, in lower case; `*` in a range of all types.
        public let type: String
        /// The part after the slash, in lower case; `*` in a range.
        public let subtype: String
        /// The parameters, in order. A media range's weight, `q`, is one of them.
        public var parameters: [Parameter]

        /// Makes a media type.
        ///
        /// - Parameters:
        ///   - type: The part before the slash; its ASCII letters become lower case.
        ///   - subtype: The part after the slash; its ASCII letters become lower case.
        ///   - parameters: The parameters. If a part is no token, the media type is not ``isValid``.
        public init(type: String, subtype: String, parameters: [Parameter] = []) {
            self.type = type.asciiLowercased
            self.subtype = subtype.asciiLowercased
            self.parameters = parameters
        }

        /// Parses a received media type by the rules of browsers (WHATWG MIME Sniffing, section 4.4).
        ///
        /// Broken parameters are dropped: those without a value, with a name that is no token, or with a control character. If a
        /// name occurs twice, the first value counts. An unclosed quote extends to the end of the text. A literal is parsed
        /// strictly.
        ///
        /// - Parameter description: The text. The result is `nil` if type or subtype is missing or no token.
        public init?(_ description: String) {
            var reader = FieldReader(description)
            reader.skip(\.isHTTPWhitespace)
            guard let type = reader.token(), reader.take(UInt8(ascii: "/")), let subtype = reader.token() else {
                return nil
            }
            reader.skip(\.isHTTPWhitespace)
            guard reader.isAtEnd || reader.isAt(UInt8(ascii: ";")) else { return nil }
            self.init(type: type, subtype: subtype)
            var names: Set<String> = []
            while reader.take(UInt8(ascii: ";")) {
                guard let parameter = reader.receivedParameter(), names.insert(parameter.name).inserted else {
                    continue
                }
                parameters.append(parameter)
            }
        }

        /// Parses a media type that a user wrote; `nil` if it violates the grammar of RFC 9110 section 8.3.1.
        private init?(written text: String) {
            var reader = FieldReader(text)
            reader.skipBlanks()
            guard let type = reader.token(), reader.take(UInt8(ascii: "/")), let subtype = reader.token() else {
                return nil
            }
            self.init(type: type, subtype: subtype)
            reader.skipBlanks()
            while !reader.isAtEnd {
                guard reader.take(UInt8(ascii: ";")) else { return nil }
                reader.skipBlanks()
                // An empty parameter, as in "a/b;" or "a/b;;c=d", is allowed and has no meaning.
                if let name = reader.token() {
                    guard reader.take(UInt8(ascii: "=")), let value = reader.parameterValue() else { return nil }
                    parameters.append(Parameter(name: name, value: value))
                    reader.skipBlanks()
                }
            }
        }

        /// Type and subtype without parameters, for comparisons.
        public var essence: String { "\(type)/\(subtype)" }

        /// Whether every part is legal in a field. A body whose type is not valid is refused before anything is sent.
        public var isValid: Bool {
            Headers.isLegal(name: type) && Headers.isLegal(name: subtype)
                && parameters.allSatisfy { Headers.isLegal(name: $0.name) && Headers.isLegal(value: $0.value) }
        }

        /// Whether the body is JSON: the subtype is `json` or ends in `+json` (RFC 6839).
        public var isJSON: Bool { subtype == "json" || subtype.hasSuffix("+json") }

        /// The value of a parameter. Writing `nil` removes it.
        ///
        /// - Parameter name: The parameter's name, in any case.
        public subscript(parameter name: String) -> String? {
            get {
                let name = name.asciiLowercased
                return parameters.first { $0.name == name }?.value
            }
            set {
                let name = name.asciiLowercased
                guard let newValue else { return parameters.removeAll { $0.name == name } }
                if let place = parameters.firstIndex(where: { $0.name == name }) {
                    parameters[place] = Parameter(name: name, value: newValue)
                } else {
                    parameters.append(Parameter(name: name, value: newValue))
                }
            }
        }

        /// The name of the character encoding in lower case, if there is one.
        public var charset: String? { self[parameter: "charset"]?.asciiLowercased }

        /// Returns the type with one more parameter, or with another value for it.
        ///
        /// - Parameters:
        ///   - name: The parameter's name.
        ///   - value: The parameter's value.
        /// - Returns: The type with the parameter.
        public func with(_ name: String, _ value: String) -> MediaType {
            var copy = self
            copy[parameter: name] = value
            return copy
        }

        /// Parses media types that are separated by commas. Invalid members are skipped.
        static func list(_ text: String) -> [MediaType] {
            var reader = FieldReader(text)
            var types: [MediaType] = []
            while !reader.isAtEnd {
                if let type = MediaType(reader.text(to: UInt8(ascii: ","))) { types.append(type) }
                _ = reader.take(UInt8(ascii: ","))
            }
            return types
        }
    }
}

extension HTTP.MediaType: LosslessStringConvertible {
    /// The type as written in a field.
    public var description: String {
        parameters.reduce(into: essence) { $0 += "; \($1.name)=\($1.value.asParameterValue)" }
    }
}

extension HTTP.MediaType: ExpressibleByStringLiteral {
    /// Makes a media type.
    ///
    /// - Parameter value: The type as written in a field (RFC 9110 section 8.3.1). If it violates the grammar, the result is not
    ///   ``isValid``.
    public init(stringLiteral value: String) { self = Self(written: value) ?? Self(type: value, subtype: "") }
}

extension HTTP.Headers {
    /// The media type of the body, from `Content-Type`; `nil` if there is no valid one. If there are several by mistake, the last
    /// valid one counts (RFC 9110 section 8.3).
    public var contentType: HTTP.MediaType? {
        get { values(for: .contentType).flatMap { HTTP.MediaType.list($0) }.last }
        set { self[.contentType] = newValue?.description }
    }
}

extension FieldReader {
    /// The parameter up to the next semicolon or the end, or `nil` if it is broken (WHATWG MIME Sniffing, section 4.4).
    fileprivate mutating func receivedParameter() -> HTTP.MediaType.Parameter? {
        skip(\.isHTTPWhitespace)
        let name = text { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "=") } ?? ""
        guard take(UInt8(ascii: "=")) else { return nil }
        let isQuoted = isAt(UInt8(ascii: "\""))
        var value = isQuoted ? quotedString(mayStayOpen: true) : nil
        let rest = text { $0 != UInt8(ascii: ";") }
        if !isQuoted { value = rest.flatMap(\.withoutTrailingHTTPWhitespace) }
        guard let value, HTTP.Headers.isLegal(name: name), HTTP.Headers.isLegal(value: value) else { return nil }
        return HTTP.MediaType.Parameter(name: name, value: value)
    }
}

extension UInt8 {
    /// Whether the byte is HTTP whitespace in the sense of the WHATWG.
    fileprivate var isHTTPWhitespace: Bool { isBlank || self == UInt8(ascii: "\r") || self == UInt8(ascii: "\n") }
}

extension String {
    /// The text without whitespace at its end, or `nil` if nothing else is left.
    fileprivate var withoutTrailingHTTPWhitespace: String? {
        utf8.lastIndex { !$0.isHTTPWhitespace }.map { String(self[...$0]) }
    }
}
