extension HTTP {
    /// The header fields of a message: ordered, with several values per name. Names are compared without regard to case (RFC 9110
    /// section 5).
    ///
    /// Received fields are kept as bytes and parsed on demand.
    public struct Headers: Sendable, ExpressibleByDictionaryLiteral {
        /// One field line.
        public struct Field: Hashable, Sendable {
            /// The field's name.
            public var name: HeaderName
            /// The field's value, without white space around it.
            public var value: String

            /// Makes a field line.
            ///
            /// - Parameters:
            ///   - name: The name.
            ///   - value: The value, without white space around it.
            public init(name: HeaderName, value: String) {
                self.name = name
                self.value = value
            }
        }

        private enum Storage: Sendable {
            case fields([Field])
            case wire(WireFields)
        }

        private var storage: Storage

        /// Makes an empty collection.
        public init() { storage = .fields([]) }

        /// Makes a collection of fields in their order.
        ///
        /// - Parameter fields: The fields; several of one name are kept.
        public init(_ fields: some Sequence<Field>) { storage = .fields(Array(fields)) }

        /// Makes a collection of fields in their order.
        ///
        /// - Parameter elements: Names and values; several of one name are kept.
        public init(dictionaryLiteral elements: (HeaderName, String)...) {
            storage = .fields(elements.map { Field(name: $0.0, value: $0.1) })
        }

        /// Makes a collection of fields in no particular order.
        ///
        /// - Parameter dictionary: Names and values.
        public init(_ dictionary: [String: String]) {
            storage = .fields(dictionary.map { Field(name: HeaderName($0.key), value: $0.value) })
        }

        /// Keeps received field lines, which are parsed on demand.
        ///
        /// A line without a colon, or with a name that is no token, is skipped. A carriage return or a NUL in a value is read as
        /// a space (RFC 9110 section 5.5). White space around a value is removed. A line that begins with white space continues
        /// the one before (RFC 9112 section 5.2). Bytes that are not UTF-8 are read as Latin-1.
        ///
        /// - Parameter lines: `name: value` lines, each ended by a line feed or a carriage return and a line feed.
        public init(lines: [UInt8]) { storage = .wire(WireFields(lines)) }

        /// Makes a collection of received fields, with the same rules as for received lines (``init(lines:)``).
        ///
        /// - Parameter fields: The fields; several of one name are kept.
        public init(received fields: some Sequence<Field>) {
            self.init(
                fields.lazy.filter { Self.isLegal(name: $0.name.rawValue) }.map { field in
                    let value = field.value.utf8
                    let isTrimmed = value.first?.isBlank != true && value.last?.isBlank != true
                    guard !isTrimmed || value.contains(where: \.endsValue) else { return field }
                    let bytes = value.map { $0.endsValue ? UInt8(ascii: " ") : $0 }
                    return Field(name: field.name, value: String(decoding: bytes.withoutOuterBlanks, as: UTF8.self))
                }
            )
        }

        /// Keeps received field lines whose Content-Length was parsed already.
        package init(lines: [UInt8], contentLength: Int64?) {
            storage = .wire(WireFields(lines, readLength: .some(contentLength)))
        }

        /// The length that Content-Length announces, in bytes, unless the body is sent in chunks (RFC 9112 section 6.3). It is
        /// read for every response.
        var announcedLength: Int64? {
            if case .wire(let wire) = storage, let length = wire.readLength { return length }
            return contains(.transferEncoding) ? nil : self[.contentLength].flatMap(ContentLength.length)
        }

        /// The fields, in order.
        public var fields: [Field] {
            switch storage {
            case .fields(let fields): fields
            case .wire(let wire): wire.fields
            }
        }

        /// The number of field lines.
        public var count: Int { fields.count }

        /// Whether there is no field.
        public var isEmpty: Bool { fields.isEmpty }

        /// The combined value of a field.
        ///
        /// Reading joins the values of several lines with `", "` (RFC 9110 section 5.3); use ``values(for:)`` for `Set-Cookie`,
        /// whose values must not be joined. Writing replaces all lines of that name by one, in the place of the first; `nil`
        /// removes them.
        public subscript(name: HeaderName) -> String? {
            get {
                let values = values(for: name)
                return values.count < 2 ? values.first : values.joined(separator: ", ")
            }
            set {
                var fields = fields
                storage = .fields([])  // No other reference is left, so they are changed in place.
                if let newValue {
                    if let first = fields.firstIndex(where: { $0.name == name }) {
                        fields[first].value = newValue
                        let rest = fields[(first + 1)...].filter { $0.name != name }
                        fields.replaceSubrange((first + 1)..., with: rest)
                    } else {
                        fields.append(Field(name: name, value: newValue))
                    }
                } else {
                    fields.removeAll { $0.name == name }
                }
                storage = .fields(fields)
            }
        }

        /// The values of all lines of a name, in order.
        ///
        /// - Parameter name: The field's name, in any case.
        /// - Returns: The values; empty if there is no such field.
        public func values(for name: HeaderName) -> [String] {
            switch storage {
            case .fields(let fields): fields.compactMap { $0.name == name ? $0.value : nil }
            case .wire(let wire): wire.values(for: name)
            }
        }

        /// The values of `Location`. Bytes that are not UTF-8 are percent-encoded, not read as Latin-1.
        var locations: [String] {
            if case .wire(let wire) = storage {
                wire.values(for: .location, escapesBytes: true)
            } else {
                values(for: .location)
            }
        }

        /// Whether there is a field of that name.
        ///
        /// - Parameter name: The field's name, in any case.
        /// - Returns: `true` if there is one.
        public func contains(_ name: HeaderName) -> Bool {
            switch storage {
            case .fields(let fields): fields.contains { $0.name == name }
            case .wire(let wire): !wire.values(for: name).isEmpty
            }
        }

        /// Adds a line and keeps other lines of that name.
        ///
        /// - Parameters:
        ///   - value: The value.
        ///   - name: The field's name.
        public mutating func append(_ value: String, for name: HeaderName) {
            var fields = fields
            storage = .fields([])
            fields.append(Field(name: name, value: value))
            storage = .fields(fields)
        }
    }
}

extension HTTP.Headers: Sequence {
    /// Iterates over the fields in order.
    public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }
}

extension HTTP.Headers: Hashable {
    /// Whether both have the same lines in the same order.
    public static func == (left: HTTP.Headers, right: HTTP.Headers) -> Bool { left.fields == right.fields }

    /// Feeds the lines to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}

extension HTTP.Headers: CustomStringConvertible {
    /// The lines, without the values of secret fields. A value that is a URL or a path loses user info, query and fragment.
    public var description: String {
        fields.map(\.description).joined(separator: "\n")
    }
}

extension HTTP.Headers.Field: CustomStringConvertible, CustomReflectable {
    /// The line as in ``HTTP/Headers/description``.
    public var description: String { "\(name): \(HTTP.Redaction().text(of: self))" }

    /// The line as in ``HTTP/Headers/description``, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["line": description]) }
}

extension HTTP.Headers: CustomReflectable {
    /// The lines as in ``description``.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: description.split(separator: "\n")) }
}

extension HTTP.Headers {
    /// Whether a value may be sent: it has no control byte except the tab (RFC 9110 section 5.5), so it cannot inject a line.
    static func isLegal(value: String) -> Bool { value.utf8.allSatisfy(\.isValueByte) }

    /// Whether a name may be sent: a token.
    static func isLegal(name: String) -> Bool { !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte) }
}

extension HTTP.Headers {
    /// The names of the fields whose values are secret (``HTTP/Redaction``).
    package var secretNames: Set<HTTP.HeaderName> { Set(lazy.map(\.name).filter(\.isSecret)) }
}
