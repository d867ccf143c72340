import ArgumentParser
import Foundation
import NetworkStack

/// What is asked.
struct RequestArguments: ParsableArguments {
    @Option(name: .both("X", "request"), parsing: .unconditional, help: ArgumentHelp("The method", valueName: "method"))
    var method: String?

    @Option(
        name: .both("H", "header"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A header line; 'Name;' has no value, 'Name:' leaves one out; @file has lines",
            valueName: "line"
        )
    )
    var headers: [String] = []

    @Option(
        name: .both("d", "data"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "POST this content, or @file without its line breaks; several are joined by &",
            valueName: "data"
        )
    )
    var data: [String] = []

    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("POST this content, @ included", valueName: "data"))
    var dataRaw: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("POST this content, or @file as it is", valueName: "data")
    )
    var dataBinary: [String] = []

    @Option(
        name: .both("F", "form"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "POST a form's field: name=value, name=@file, name=<file; ;type= ;filename=",
            valueName: "field"
        )
    )
    var form: [String] = []

    @Flag(name: [.customShort("G"), .customLong("get")], help: "Put the -d data in the URL's query, and GET")
    var putsDataInQuery = false

    @Option(
        name: .both("T", "upload-file"),
        parsing: .unconditional,
        help: ArgumentHelp("PUT a file; - for standard input", valueName: "file")
    )
    var upload: String?

    @Flag(name: [.customShort("I"), .customLong("head")], help: "HEAD, and show the head")
    var asksForHead = false

    @Option(
        name: .both("A", "user-agent"),
        parsing: .unconditional,
        help: ArgumentHelp("The User-Agent", valueName: "name")
    )
    var userAgent = "netfetch/0.1"

    @Option(name: .both("e", "referer"), parsing: .unconditional, help: ArgumentHelp("The Referer", valueName: "url"))
    var referer: String?

    @Option(
        name: .both("u", "user"),
        parsing: .unconditional,
        help: ArgumentHelp("Credentials for the server: Basic, unless --digest", valueName: "name:password")
    )
    var user: String?

    @Flag(name: .customLong("digest"), help: "The credentials are for Digest authentication, not Basic")
    var usesDigest = false

    func validate() throws {
        let sendsData = !putsDataInQuery && !(data.isEmpty && dataRaw.isEmpty && dataBinary.isEmpty)
        let contents = [("-d", sendsData), ("-F", !form.isEmpty), ("-T", upload != nil)].filter(\.1).map(\.0)
        guard contents.count < 2 else {
            throw ValidationError("\(contents.joined(separator: " and ")) each say what to send; choose one")
        }
    }

    /// Whether there is any of these options.
    var saysAnything: Bool {
        let lists = [headers, data, dataRaw, dataBinary, form]
        return !lists.allSatisfy(\.isEmpty) || putsDataInQuery || asksForHead || usesDigest
            || [method, upload, referer, user].contains { $0 != nil }
    }

    /// Who asks where the server of a URL wants Digest authentication.
    ///
    /// - Throws: A ``Failure``.
    func digestCredentials(for url: URL) throws -> [HTTP.Origin: HTTP.Credentials] {
        guard usesDigest, let user else { return [:] }
        let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw HTTP.Headers.noColon }
        return [try HTTP.Origin(of: url): HTTP.Credentials(user: parts[0], password: parts[1])]
    }

    /// The request for a URL.
    ///
    /// - Throws: A ``Failure``, or a ``LocalFileError``.
    func request(for text: String) throws -> HTTP.Request {
        let content = try content()
        var text = text.contains("://") ? text : "http://" + text
        if putsDataInQuery, let content { text = Self.adding(content, to: text) }
        if let upload, upload != "-" {
            try LocalFile.requireReadable(upload)
            if text.hasSuffix("/") { text += Self.escaped((upload as NSString).lastPathComponent) }
        }
        var request = try HTTP.Request(readingURL: text)
        if let upload {
            request.body = upload == "-" ? .stream(.init(StandardInput())) : .file(path: upload)
            request.method = .PUT
        } else if !form.isEmpty {
            let content = try FormField.content(form)
            request.body = content.body
            request.method = .POST
            if let mediaType = content.mediaType { request.headers.append("\(mediaType)", for: .contentType) }
        } else if let content, !putsDataInQuery {
            request.body = .bytes(content)
            request.method = .POST
        }
        if asksForHead { request.method = .HEAD }
        if let method { request.method = HTTP.Method(rawValue: method) }
        let sendsForm = content != nil && !putsDataInQuery && upload == nil && form.isEmpty
        request.headers = try fields(
            content: sendsForm ? "application/x-www-form-urlencoded" : request.headers[.contentType]
        )
        return request
    }

    private func content() throws -> Data? {
        var pieces: [Data] = []
        for piece in data {
            guard piece.hasPrefix("@") else {
                pieces.append(Data(piece.utf8))
                continue
            }
            pieces.append(try LocalFile.read(String(piece.dropFirst())).filter { $0 != 10 && $0 != 13 && $0 != 0 })
        }
        pieces += dataRaw.map { Data($0.utf8) }
        for piece in dataBinary {
            pieces.append(piece.hasPrefix("@") ? try LocalFile.read(String(piece.dropFirst())) : Data(piece.utf8))
        }
        return pieces.isEmpty ? nil : Data(pieces.joined(separator: [UInt8(ascii: "&")]))
    }

    /// A file's name as a segment of a path.
    private static func escaped(_ name: String) -> String {
        name.utf8.map { byte in
            let isPlain = byte < 0x80 && Character(Unicode.Scalar(byte)).isLetter || (0x30...0x39).contains(byte)
            return isPlain || "-._~".utf8.contains(byte)
                ? String(Unicode.Scalar(byte)) : String(format: "%%%02X", Int(byte))
        }.joined()
    }

    private static func adding(_ query: Data, to url: String) -> String {
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let separator = url[..<fragment].contains("?") ? "&" : "?"
        return url[..<fragment] + separator + String(decoding: query, as: UTF8.self) + url[fragment...]
    }

    private func fields(content: String?) throws -> HTTP.Headers {
        var fields: HTTP.Headers = [.userAgent: userAgent]
        if let referer { fields.append(referer, for: .referer) }
        if let user, !usesDigest { fields.append(try HTTP.Headers.basic(user), for: .authorization) }
        if let content { fields.append(content, for: .contentType) }
        var own: HTTP.Headers = [:]
        for (name, value) in try ownFields() {
            fields[name] = nil
            if let value { own.append(value, for: name) }
        }
        return HTTP.Headers(Array(fields) + Array(own))
    }

    /// The fields of -H; one without a value is to be left out.
    private func ownFields() throws -> [(HTTP.HeaderName, String?)] {
        try headers.flatMap { argument in
            let lines =
                argument.hasPrefix("@")
                ? String(decoding: try LocalFile.read(String(argument.dropFirst())), as: UTF8.self)
                    .split(whereSeparator: \.isNewline).map(String.init) : [argument]
            return try lines.map { line in
                let field = try HTTP.Headers.field(line, orEmpty: ";")
                if field.1 == nil, Self.indispensable.contains(field.0) {
                    throw Failure(.refused, "'\(line)': no request can do without \(field.0).")
                }
                return field
            }
        }
    }

    /// Whether the stack is not to say what it accepts.
    func leavesOutAccept() throws -> Bool { try ownFields().contains { $0 == .accept && $1 == nil } }

    private static let indispensable: Set<HTTP.HeaderName> = [.host, .contentLength, .transferEncoding]
}

extension HTTP.Request {
    /// A request for a URL's text.
    ///
    /// - Throws: A ``Failure`` of the kind `url`.
    init(readingURL text: String) throws(Failure) {
        // URL's own parser escapes them, and would fetch something that was not written.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw Failure(.url, "The URL has a blank or a control character; escape it with a percent sign.")
        }
        do { try self.init(url: text) } catch { throw Failure(.url, "\(error)") }
    }
}

extension HTTP.Headers {
    static let noColon = Failure(.refused, "The credentials have no colon; write name:password.")

    /// The Basic credentials of `name:password`.
    static func basic(_ user: String) throws(Failure) -> String {
        guard user.contains(":") else { throw noColon }
        return "Basic " + Data(user.utf8).base64EncodedString()
    }

    /// Reads a `Name: value` line; the value is `nil` if nothing follows the colon.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - mark: What may stand for the colon after a name without a value.
    /// - Returns: The name and the value.
    /// - Throws: A ``Failure`` of the kind `refused`.
    static func field(_ line: String, orEmpty mark: String? = nil) throws(Failure) -> (HTTP.HeaderName, String?) {
        guard let colon = line.firstIndex(of: ":") else {
            guard let mark, line.hasSuffix(mark) else {
                throw Failure(.refused, "A header line has no colon; write 'Name: value'.")
            }
            return (.init(String(line.dropLast(mark.count))), "")
        }
        guard colon > line.startIndex else { throw Failure(.refused, "A header line has no name before its colon.") }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return (.init(String(line[..<colon])), value.isEmpty ? nil : String(value))
    }
}
