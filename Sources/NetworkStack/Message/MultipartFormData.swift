public import FoundationEssentials

/// A form whose fields are parts: values, bytes, files and streams (`multipart/form-data`, RFC 7578).
///
/// Names and file names are escaped as browsers do (WHATWG HTML, "multipart/form-data encoding algorithm"); values are sent
/// unchanged. A form of values and bytes becomes bytes in memory. A form with files or streams is read while it is sent. Its
/// length is known if that of every stream is, and it can be sent again if every stream can.
///
///     var form = MultipartFormData()
///     form.append("Holiday", name: "title")
///     form.append(file: "/tmp/beach.jpg", name: "photo", mediaType: .jpeg)
///     let request = try HTTP.Request(url: url, content: .multipart(form))
public struct MultipartFormData: Sendable {
    /// One field.
    public struct Part: Sendable {
        /// The field's name.
        public var name: String
        /// The file name of the value, if it is a file.
        public var filename: String?
        /// The value's media type, or `nil` to send none.
        public var mediaType: HTTP.MediaType?
        /// The value.
        public var body: HTTP.Body

        /// Makes a field.
        ///
        /// - Parameters:
        ///   - name: The field's name.
        ///   - filename: The file name of the value, if it is a file.
        ///   - mediaType: The value's media type, or `nil` to send none.
        ///   - body: The value.
        public init(name: String, filename: String? = nil, mediaType: HTTP.MediaType? = nil, body: HTTP.Body) {
            self.name = name
            self.filename = filename
            self.mediaType = mediaType
            self.body = body
        }
    }

    /// The boundary between parts, the same each time the form is sent.
    public let boundary: String
    /// The fields, in the order in which they are sent.
    public var parts: [Part] = []

    /// Makes an empty form with a random boundary.
    public init() {
        let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        boundary = "----FormBoundary" + String((0..<24).map { _ in letters[Int.random(in: letters.indices)] })
    }

    /// Makes an empty form.
    ///
    /// - Parameter boundary: The boundary between parts. No part may contain it.
    /// - Throws: ``HTTP/InvalidValue`` if it is no boundary: 1 to 70 letters, digits, `'()+_,-./:=?` and spaces, but no space at
    ///   the end (RFC 2046 section 5.1.1).
    public init(boundary: String) throws(HTTP.InvalidValue) {
        let isLegal = boundary.utf8.allSatisfy { $0.isAlphanumeric || "'()+_,-./:=? ".utf8.contains($0) }
        guard isLegal, (1...70).contains(boundary.utf8.count), boundary.last != " " else {
            throw HTTP.InvalidValue(
                "The boundary must be 1 to 70 letters, digits, '()+_,-./:=? and spaces, the last not a space."
            )
        }
        self.boundary = boundary
    }

    /// Adds a field with a text.
    ///
    /// - Parameters:
    ///   - text: The value, sent in UTF-8.
    ///   - name: The field's name.
    public mutating func append(_ text: String, name: String) {
        parts.append(Part(name: name, body: .bytes(Data(text.utf8))))
    }

    /// Adds a field with bytes.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - name: The field's name.
    ///   - filename: The file name to send, if any.
    ///   - mediaType: The value's media type.
    public mutating func append(
        _ data: Data,
        name: String,
        filename: String? = nil,
        mediaType: HTTP.MediaType = .octetStream
    ) {
        parts.append(Part(name: name, filename: filename, mediaType: mediaType, body: .bytes(data)))
    }

    /// Adds a field with a file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - name: The field's name.
    ///   - filename: The file name to send; `nil` for the file's name.
    ///   - mediaType: The file's media type.
    public mutating func append(
        file path: String,
        name: String,
        filename: String? = nil,
        mediaType: HTTP.MediaType = .octetStream
    ) {
        // By bytes: a combining mark would make one character of itself and the slash.
        let own = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
        parts.append(Part(name: name, filename: filename ?? own, mediaType: mediaType, body: .file(path: path)))
    }

    /// Adds a field with a stream, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - stream: Yields the value.
    ///   - name: The field's name.
    ///   - filename: The file name to send, if any.
    ///   - mediaType: The value's media type.
    public mutating func append(
        _ stream: HTTP.Body.Stream,
        name: String,
        filename: String? = nil,
        mediaType: HTTP.MediaType = .octetStream
    ) {
        parts.append(Part(name: name, filename: filename, mediaType: mediaType, body: .stream(stream)))
    }

    /// Whether the form can be sent again, for a redirect, a retry, or an answer to a challenge.
    public var isReplayable: Bool { parts.allSatisfy(\.body.isReplayable) }

    /// Encodes the form.
    ///
    /// - Returns: The content, `multipart/form-data` with the boundary.
    /// - Throws: A ``FileError`` if a file cannot be read; ``HTTP/InvalidValue`` if a part's media type is not valid, or a part's
    ///   stream has trailers.
    public func content() throws -> HTTP.Content {
        var joined = JoinedBody()
        for part in parts {
            joined.append(Data(try head(of: part).utf8))
            try joined.append(part.body)
            joined.append(Data("\r\n".utf8))
        }
        joined.append(Data("--\(boundary)--\r\n".utf8))
        return HTTP.Content(joined.body, as: .multipartFormData.with("boundary", boundary))
    }

    /// The boundary before a part, and the part's fields.
    private func head(of part: Part) throws(HTTP.InvalidValue) -> String {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(name: part.name))\""
        if let filename = part.filename { head += "; filename=\"\(Self.escaped(filename))\"" }
        if let mediaType = part.mediaType {
            guard mediaType.isValid else {
                throw HTTP.InvalidValue("The media type \(mediaType) is not valid (RFC 9110 section 8.3.1).")
            }
            head += "\r\nContent-Type: \(mediaType)"
        }
        return head + "\r\n\r\n"
    }

    /// Escapes a field's name. Each line break in it first becomes CR LF.
    static func escaped(name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            let isAfterReturn = bytes.last == UInt8(ascii: "\r")
            if byte == UInt8(ascii: "\n"), !isAfterReturn { bytes.append(UInt8(ascii: "\r")) }
            if byte != UInt8(ascii: "\n"), isAfterReturn { bytes.append(UInt8(ascii: "\n")) }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.append(UInt8(ascii: "\n")) }
        return escaped(String(decoding: bytes, as: UTF8.self))
    }

    /// Escapes quotation marks and line breaks only.
    static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            bytes.append(escaping: byte) {
                $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n")
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
