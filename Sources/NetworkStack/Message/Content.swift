public import FoundationEssentials

extension HTTP {
    /// A request's content together with its media type.
    public struct Content: Sendable {
        /// The content.
        public var body: Body
        /// What it is, or `nil` to leave that unsaid.
        public var mediaType: MediaType?

        /// Joins content and its media type.
        ///
        /// - Parameters:
        ///   - body: The content.
        ///   - mediaType: What it is, or `nil` to leave that unsaid.
        public init(_ body: Body, as mediaType: MediaType?) {
            self.body = body
            self.mediaType = mediaType
        }

        /// Bytes in memory.
        ///
        /// - Parameters:
        ///   - data: The bytes.
        ///   - mediaType: What they are.
        /// - Returns: The content.
        public static func bytes(_ data: Data, as mediaType: MediaType = .octetStream) -> Content {
            Content(.bytes(data), as: mediaType)
        }

        /// Text, in UTF-8.
        ///
        /// - Parameters:
        ///   - text: The text.
        ///   - mediaType: What it is; `charset=utf-8` is added if the type does not say another.
        /// - Returns: The content.
        public static func text(_ text: String, as mediaType: MediaType = .plainText) -> Content {
            Content(
                .bytes(Data(text.utf8)),
                as: mediaType.charset == nil ? mediaType.with("charset", "utf-8") : mediaType
            )
        }

        /// A file, read while it is sent.
        ///
        /// - Parameters:
        ///   - path: Where the file is.
        ///   - mediaType: What it is.
        /// - Returns: The content.
        public static func file(path: String, as mediaType: MediaType = .octetStream) -> Content {
            Content(.file(path: path), as: mediaType)
        }

        /// A model as JSON.
        ///
        /// - Parameters:
        ///   - model: The model.
        ///   - encoder: Encodes it.
        /// - Returns: The content, `application/json`.
        /// - Throws: What the encoder throws.
        public static func json(_ model: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws -> Content {
            Content(.bytes(try encoder.encode(model)), as: .json)
        }

        /// A model as a closure writes it.
        ///
        /// - Parameters:
        ///   - model: The model.
        ///   - mediaType: What the closure writes.
        ///   - serialize: Makes the bytes.
        /// - Returns: The content.
        /// - Throws: What the closure throws.
        public static func serialized<Model, Failure: Error>(
            _ model: Model,
            as mediaType: MediaType,
            by serialize: (Model) throws(Failure) -> Data
        ) throws(Failure) -> Content {
            Content(.bytes(try serialize(model)), as: mediaType)
        }

        /// The fields of a form in one line, as browsers send them (WHATWG URL section 5).
        ///
        /// - Parameter items: The fields in order, repeated names kept. A `nil` value is sent as an empty one.
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

        /// The fields of a form in one line, as browsers send them.
        ///
        /// - Parameter fields: The fields in order, repeated names kept.
        /// - Returns: The content, `application/x-www-form-urlencoded`.
        public static func form(_ fields: KeyValuePairs<String, String>) -> Content {
            form(fields.map { URLQueryItem(name: $0.key, value: $0.value) })
        }

        /// A form whose fields are parts of their own, such as files.
        ///
        /// - Parameter form: The form.
        /// - Returns: The content, `multipart/form-data` with the form's boundary.
        /// - Throws: A ``FileError`` if a file cannot be read; ``HTTP/InvalidValue`` if a part's media type is not valid.
        public static func multipart(_ form: MultipartFormData) throws -> Content { try form.content() }
    }
}

extension HTTP.Request {
    /// Makes a request with content that says what it is.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The target.
    ///   - headers: The header fields. A `Content-Type` among them counts instead of the content's.
    ///   - content: The content.
    /// - Throws: ``HTTP/InvalidValue`` if the media type is not valid.
    public init(method: HTTP.Method = .POST, url: URL, headers: HTTP.Headers = [:], content: HTTP.Content)
        throws(HTTP.InvalidValue)
    {
        self.init(method: method, url: url, headers: headers, body: content.body)
        guard let mediaType = content.mediaType, !headers.contains(.contentType) else { return }
        guard mediaType.isValid else {
            throw HTTP.InvalidValue("The content's media type is \(mediaType), which is none.")
        }
        self.headers.append(mediaType.description, for: .contentType)
    }
}

extension [UInt8] {
    /// Adds text as it stands in a form: a space as `+`, everything but letters, digits and `*-._` escaped.
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
