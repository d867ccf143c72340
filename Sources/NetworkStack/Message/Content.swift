public import FoundationEssentials

extension HTTP {
    /// A request's body with its media type.
    public struct Content: Sendable {
        /// The body.
        public var body: Body
        /// The media type, or `nil` to send none.
        public var mediaType: MediaType?

        /// Makes content of a body and a media type.
        ///
        /// - Parameters:
        ///   - body: The body.
        ///   - mediaType: The media type, or `nil` to send none.
        public init(_ body: Body, as mediaType: MediaType?) {
            self.body = body
            self.mediaType = mediaType
        }

        /// Makes content of bytes in memory.
        ///
        /// - Parameters:
        ///   - data: The bytes.
        ///   - mediaType: Their media type.
        /// - Returns: The content.
        public static func bytes(_ data: Data, as mediaType: MediaType = .octetStream) -> Content {
            Content(.bytes(data), as: mediaType)
        }

        /// Makes content of a text, in UTF-8.
        ///
        /// - Parameters:
        ///   - text: The text.
        ///   - mediaType: Its media type; `charset=utf-8` is added if it has no charset.
        /// - Returns: The content.
        public static func text(_ text: String, as mediaType: MediaType = .plainText) -> Content {
            Content(
                .bytes(Data(text.utf8)),
                as: mediaType.charset == nil ? mediaType.with("charset", "utf-8") : mediaType
            )
        }

        /// Makes content of a file, which is read while it is sent.
        ///
        /// - Parameters:
        ///   - path: The file's path.
        ///   - mediaType: Its media type.
        /// - Returns: The content.
        public static func file(path: String, as mediaType: MediaType = .octetStream) -> Content {
            Content(.file(path: path), as: mediaType)
        }

        /// Encodes a model as JSON.
        ///
        /// - Parameters:
        ///   - model: The model.
        ///   - encoder: The encoder.
        /// - Returns: The content, `application/json`.
        /// - Throws: The encoder's error.
        public static func json(_ model: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> Content {
            Content(.bytes(try encoder.encode(model)), as: .json)
        }

        /// Encodes a model with a closure.
        ///
        /// - Parameters:
        ///   - model: The model.
        ///   - mediaType: The media type of the result.
        ///   - serialize: Encodes the model.
        /// - Returns: The content.
        /// - Throws: The closure's error.
        public static func serialized<Model, Failure: Error>(
            _ model: Model,
            as mediaType: MediaType,
            by serialize: (Model) throws(Failure) -> Data
        ) throws(Failure) -> Content {
            Content(.bytes(try serialize(model)), as: mediaType)
        }

        /// Encodes the fields of a form in one line, as browsers do (WHATWG URL section 5).
        ///
        /// - Parameter items: The fields in order; repeated names are kept. A `nil` value is sent as an empty one.
        /// - Returns: The content, `application/x-www-form-urlencoded`.
        public static func form(_ items: [URLQueryItem]) -> Content {
            var line: [UInt8] = []
            for item in items {
                if !line.isEmpty { line.append(UInt8(ascii: "&")) }
                line.append(formEncoding: item.name)
                line.append(UInt8(ascii: "="))
                line.append(formEncoding: item.value ?? "")
            }
            return Content(.bytes(Data(line)), as: .formURLEncoded)
        }

        /// Encodes the fields of a form in one line, as browsers do.
        ///
        /// - Parameter fields: The fields in order; repeated names are kept.
        /// - Returns: The content, `application/x-www-form-urlencoded`.
        public static func form(_ fields: KeyValuePairs<String, String>) -> Content {
            form(fields.map { URLQueryItem(name: $0.key, value: $0.value) })
        }

        /// Makes content of a form whose fields are parts, such as files.
        ///
        /// - Parameter form: The form.
        /// - Returns: The content, `multipart/form-data` with the form's boundary.
        /// - Throws: A ``FileError`` if a file cannot be read; ``HTTP/InvalidValue`` if a part's media type is not valid.
        public static func multipart(_ form: MultipartFormData) throws -> Content { try form.content() }
    }
}

extension HTTP.Request {
    /// Makes a request with a body and its media type.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The target.
    ///   - headers: The header fields. A `Content-Type` among them overrides the content's media type.
    ///   - content: The body and its media type.
    /// - Throws: ``HTTP/InvalidValue`` if the media type is not valid.
    public init(method: HTTP.Method = .POST, url: URL, headers: HTTP.Headers = [:], content: HTTP.Content)
        throws(HTTP.InvalidValue)
    {
        self.init(method: method, url: url, headers: headers, body: content.body)
        guard let mediaType = content.mediaType, !headers.contains(.contentType) else { return }
        guard mediaType.isValid else {
            throw HTTP.InvalidValue("The media type \(mediaType) is not valid (RFC 9110 section 8.3.1).")
        }
        self.headers.append(mediaType.description, for: .contentType)
    }
}

extension [UInt8] {
    /// Appends text encoded for a form: a space as `+`; all but letters, digits and `*-._` escaped.
    fileprivate mutating func append(formEncoding text: String) {
        for byte in text.utf8 {
            if byte == UInt8(ascii: " ") {
                append(UInt8(ascii: "+"))
            } else {
                append(escaping: byte) { $0.isAlphanumeric || "*-._".utf8.contains($0) }
            }
        }
    }
}
