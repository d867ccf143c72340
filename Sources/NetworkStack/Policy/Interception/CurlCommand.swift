internal import FoundationEssentials

extension HTTP.Request {
    /// Returns a curl command that sends this request, for a terminal or a bug report.
    ///
    /// Every part is quoted for a POSIX shell. curl sends the fields of this request, `Host` and `Content-Length`, but neither
    /// its own default fields nor those that a stack adds (`User-Agent`, `Accept`, `Accept-Encoding`). Unlike a stack, it uses
    /// the environment's proxies.
    ///
    /// A body is part of the command; a binary or long body is piped in with `printf`. A file is named, and a streamed body has
    /// to be piped in.
    ///
    /// - Parameter redaction: What to omit: the values of secret fields and the URL's user info. The query is kept, because the
    ///   request would be another without it. With `nil` nothing is omitted, and the command contains the credentials.
    /// - Returns: The command, on one line unless the body has line breaks.
    /// - Throws: ``HTTP/InvalidValue`` if a stack could not send the request, either.
    public func curlCommand(redacting redaction: HTTP.Redaction? = .init()) throws(HTTP.InvalidValue) -> String {
        let (request, _, url, _) = try checked()
        // curl would read ~/.curlrc, treat [] and {} as patterns, and wait for a 100 before a long body.
        var words = ["curl", "--disable", "--globoff"]
        switch request.method {
        case .HEAD: words.append("--head")
        case .GET where request.body.isNone: break
        default: words += ["--request", request.method.rawValue]
        }
        for field in request.headers where field.name != .contentLength {
            let value = redaction?.exported(field) ?? field.value
            // curl sends an empty field only with a semicolon, and drops a field with a blank value.
            words += ["--header", value.utf8.allSatisfy(\.isBlank) ? "\(field.name);" : "\(field.name): \(value)"]
        }
        // Servers expect these methods to announce even an empty body.
        let hasContent = !request.body.isNone || [.POST, .PUT, .PATCH].contains(request.method)
        let unwanted: [HTTP.HeaderName] = [.userAgent, .accept] + (hasContent ? [.contentType, .expect] : [])
        for name in unwanted where !request.headers.contains(name) { words += ["--header", "\(name):"] }
        var input = ""
        switch request.body {
        case .none: words += hasContent ? ["--data-raw", ""] : []
        case .bytes(let data):
            if let text = Shell.text(in: data) {
                words += ["--data-raw", text]
            } else {
                input = "printf \(Shell.format(of: data)) | "
                words += ["--data-binary", "@-"]
            }
        case .file(let path): words += ["--data-binary", "@" + (path == "-" ? "./-" : path)]
        case .stream: words += ["--data-binary", "@-"]
        }
        words += ["--url", url]
        return input + words.map(Shell.quoted).joined(separator: " ")
    }
}

/// The quoting of a POSIX shell.
private enum Shell {
    /// The longest argument on Linux; a pipe has no limit.
    private static let longestWord = 100_000

    /// The word as one argument, whatever it contains.
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            $0.isAlphanumeric || "-_./:=@".utf8.contains($0)
        }
        if isPlain, !word.isEmpty { return word }
        // Within single quotes only the single quote is special. Compares bytes: with a combining mark, a quote is another
        // `Character`.
        let pieces = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + pieces.map { String(Substring($0)) }.joined(separator: #"'\''"#) + "'"
    }

    /// The bytes as a text that can be an argument, or `nil`.
    static func text(in data: Data) -> String? {
        guard data.count <= longestWord, !data.contains(0) else { return nil }
        return String(validating: data, as: UTF8.self)
    }

    /// The bytes as the format of a `printf`.
    static func format(of data: Data) -> String {
        var format = "'"
        for byte in data {
            if byte.isAlphanumeric || byte == UInt8(ascii: " ") {
                format.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 8)
                format += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return format + "'"
    }
}
