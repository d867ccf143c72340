import ArgumentParser
import Foundation
import NetworkStack

/// What is requested.
struct RequestArguments: ParsableArguments {
    @Option(help: ArgumentHelp("A URL, like one without an option", valueName: "url"))
    var url: String?

    @Option(name: .both("X", "request"), help: ArgumentHelp("The method", valueName: "method"))
    var method: String?

    @Option(
        name: .both("H", "header"),
        help: ArgumentHelp("A header line; 'Name;' is empty, 'Name:' removes it; @file has lines", valueName: "line")
    )
    var headers: [String] = []

    @Option(
        name: [.customShort("d"), .customLong("data"), .customLong("data-ascii")],
        help: ArgumentHelp("POST this, or @file without its line breaks; several are joined by &", valueName: "data")
    )
    var data: [String] = []

    @Option(help: ArgumentHelp("POST this, @ included", valueName: "data"))
    var dataRaw: [String] = []

    @Option(help: ArgumentHelp("POST this, or @file as it is", valueName: "data"))
    var dataBinary: [String] = []

    @Option(help: ArgumentHelp("POST this escaped: value, name=value, @file, name@file", valueName: "data"))
    var dataUrlencode: [String] = []

    @Option(help: ArgumentHelp("POST this, or @file, as JSON, and accept JSON", valueName: "data"))
    var json: [String] = []

    @Option(
        name: .both("F", "form"),
        help: ArgumentHelp("POST a field: name=value, name=@file, name=<file; ;type= ;filename=", valueName: "field")
    )
    var form: [String] = []

    @Flag(name: .both("G", "get"), help: "Put the -d data in the URL's query, and GET")
    var putsDataInQuery = false

    @Option(name: .both("T", "upload-file"), help: ArgumentHelp("PUT a file; - for standard input", valueName: "file"))
    var upload: String?

    @Flag(name: .both("I", "head"), help: "HEAD, and show the response's head")
    var asksForHead = false

    @Option(name: .both("A", "user-agent"), help: ArgumentHelp("The User-Agent; '' for none", valueName: "name"))
    var userAgent = "netfetch/\(VersionText.number)"

    @Option(name: .both("e", "referer"), help: ArgumentHelp("The Referer", valueName: "url"))
    var referer: String?

    @Option(
        name: .both("u", "user"),
        help: ArgumentHelp("Basic credentials; asks for a missing password", valueName: "name[:password]")
    )
    var user: String?

    @Flag(name: .customLong("digest"), help: "Use the credentials for Digest authentication, not Basic")
    var usesDigest = false

    func validate() throws {
        let hasData = !putsDataInQuery && ![data, dataRaw, dataBinary, dataUrlencode, json].allSatisfy(\.isEmpty)
        let bodies = [("-d", hasData), ("-F", !form.isEmpty), ("-T", upload != nil)].filter(\.1).map(\.0)
        guard bodies.count < 2 else {
            throw ValidationError("\(bodies.joined(separator: " and ")) each name the body; choose one")
        }
        guard !asksForHead || bodies.isEmpty else {
            throw ValidationError("-I requests a head, and \(bodies[0]) sends a body; choose one")
        }
    }

    /// Whether there is any of these options.
    var isGiven: Bool {
        let lists = [headers, data, dataRaw, dataBinary, dataUrlencode, json, form]
        return !lists.allSatisfy(\.isEmpty) || putsDataInQuery || asksForHead || usesDigest
            || [method, upload, referer, user].contains { $0 != nil }
    }

    /// Asks for a missing password.
    mutating func completeCredentials() {
        if let name = user, !name.contains(":") { user = name + ":" + Terminal.password(of: name, for: "host") }
    }

    /// The credentials for the server of a URL, where Digest authentication is used.
    ///
    /// - Throws: A ``Failure``.
    func digestCredentials(for url: URL) throws -> [HTTP.Origin: HTTP.Credentials] {
        guard usesDigest, let user else { return [:] }
        let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return [try HTTP.Origin(of: url): HTTP.Credentials(user: parts[0], password: parts[1])]
    }

    /// The request for a URL.
    ///
    /// - Throws: A ``Failure``, or a ``LocalFileError``.
    func request(for text: String, data: DataPieces) throws -> HTTP.Request {
        let body = try data.joined()
        var text = text.contains("://") ? text : "http://" + text
        if putsDataInQuery, let body { text = Self.adding(body, to: text) }
        if let upload, upload != "-" {
            try LocalFile.requireReadable(upload)
            if text.hasSuffix("/") { text += DataPieces.escaped(Data((upload as NSString).lastPathComponent.utf8)) }
        }
        var request = try HTTP.Request(readingURL: text)
        var mediaType: String?
        if let upload {
            request.body = upload == "-" ? .stream(.init(StandardInput())) : .file(path: upload)
            request.method = .PUT
        } else if !form.isEmpty {
            let content = try FormField.content(form)
            request.body = content.body
            request.method = .POST
            mediaType = content.mediaType.map { "\($0)" }
        } else if let body, !putsDataInQuery {
            request.body = .bytes(body)
            request.method = .POST
            mediaType = "application/x-www-form-urlencoded"
        }
        if asksForHead { request.method = .HEAD }
        if let method { request.method = HTTP.Method(rawValue: method) }
        request.headers = try fields(mediaType: data.isJSON ? "application/json" : mediaType)
        if data.isJSON, try !ownFields().contains(where: { $0.name == .accept }) {
            request.headers.append("application/json", for: .accept)
        }
        return request
    }

    private static func adding(_ query: Data, to url: String) -> String {
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let separator = url[..<fragment].contains("?") ? "&" : "?"
        return url[..<fragment] + separator + String(decoding: query, as: UTF8.self) + url[fragment...]
    }

    private func fields(mediaType: String?) throws -> HTTP.Headers {
        var fields: HTTP.Headers = [:]
        if !userAgent.isEmpty { fields.append(userAgent, for: .userAgent) }
        if let referer, !referer.isEmpty { fields.append(referer, for: .referer) }
        if let user, !usesDigest { fields.append(try HTTP.Headers.basic(user), for: .authorization) }
        if let mediaType { fields.append(mediaType, for: .contentType) }
        var own: HTTP.Headers = [:]
        for (name, value) in try ownFields() {
            fields[name] = nil
            if let value { own.append(value, for: name) }
        }
        return HTTP.Headers(Array(fields) + Array(own))
    }

    /// The fields of -H; one without a value is to be left out.
    private func ownFields() throws -> [(name: HTTP.HeaderName, value: String?)] {
        try headers.flatMap { argument in
            let lines =
                argument.hasPrefix("@")
                ? String(decoding: try LocalFile.read(String(argument.dropFirst())), as: UTF8.self)
                    .split(whereSeparator: \.isNewline).map(String.init) : [argument]
            return try lines.map { line in
                let field = try HTTP.Headers.field(line, orEmpty: ";")
                if field.value == nil, Self.indispensable.contains(field.name) {
                    throw Failure(.refused, "'\(line)': every request needs \(field.name).")
                }
                return field
            }
        }
    }

    /// Whether the stack must not add an `Accept`.
    func leavesOutAccept() throws -> Bool { try ownFields().contains { $0.name == .accept && $0.value == nil } }

    private static let indispensable: Set<HTTP.HeaderName> = [.host, .contentLength, .transferEncoding]
}

extension HTTP.Request {
    /// A request for a URL's text.
    ///
    /// - Throws: A ``Failure`` of the kind `url`.
    init(readingURL text: String) throws(Failure) {
        // URL's own parser escapes them, and would request something that was not written.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw Failure(.url, "The URL has a blank or a control character; escape it with a percent sign.")
        }
        do { try self.init(url: text) } catch {
            throw Failure(.url, "\(error)", exitCode: Failure.namesOtherScheme(text) ? 1 : nil)
        }
    }
}

extension HTTP.Headers {
    /// The Basic credentials of `name:password`.
    ///
    /// - Throws: A ``Failure`` of the kind `refused`.
    static func basic(_ user: String) throws(Failure) -> String {
        guard user.contains(":") else {
            throw Failure(.refused, "The credentials have no colon; write name:password.")
        }
        return "Basic " + Data(user.utf8).base64EncodedString()
    }

    /// Reads a `Name: value` line; the value is `nil` if nothing follows the colon.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - mark: What may follow the name instead of a colon, for an empty value.
    /// - Returns: The name and the value.
    /// - Throws: A ``Failure`` of the kind `refused`.
    static func field(
        _ line: String,
        orEmpty mark: String? = nil
    ) throws(Failure) -> (name: HTTP.HeaderName, value: String?) {
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
