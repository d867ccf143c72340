internal import FoundationEssentials

extension HTTP.Request {
    /// A command line for curl that sends this request, for a terminal or a bug report.
    ///
    /// Every part is quoted for a POSIX shell, and what curl would add or change by itself is turned off: it sends the
    /// fields of this request and, besides them, `Host`, `Content-Length`, and what a stack adds of its own accord
    /// (`User-Agent`, `Accept`, `Accept-Encoding`) not at all. Proxies of the environment it takes, as a stack does only if it is
    /// told to.
    ///
    /// Content is written into the command; binary or long content is piped in with `printf`. A file is named, and streamed
    /// content is left to be piped in.
    ///
    /// - Parameter redaction: What is left out: the values of secret fields and the URL's user info; a query is kept, as
    ///   the request would be another without it. `nil` leaves out nothing: the command then holds the credentials.
    /// - Returns: The command, on one line unless the content has lines of its own.
    /// - Throws: ``HTTP/InvalidValue`` if the request could not be sent by a stack, either.
    public func curlCommand(redacting redaction: HTTP.Redaction? = .init()) throws(HTTP.InvalidValue) -> String {
        let (request, _, url, _) = try checked()
        // curl would read ~/.curlrc, take [] and {} for patterns, and wait for a 100 before long content.
        var words = ["curl", "--disable", "--globoff"]
        switch request.method {
        case .HEAD: words.append("--head")
        case .GET where request.body.isNone: break
        default: words += ["--request", request.method.rawValue]
        }
        for field in request.headers where field.name != .contentLength {
            let value = redaction?.exported(field) ?? field.value
            // curl sends a field without a value where none is announced, and takes a blank one for no field.
            words += ["--header", value.utf8.allSatisfy(\.isBlank) ? "\(field.name);" : "\(field.name): \(value)"]
        }
        // Servers expect these methods to announce even that there is no content.
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
    /// A word of a command line can be this long on Linux; what is piped in has no limit.
    private static let longestWord = 100_000

    /// The word as one argument, whatever is in it.
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy {
            $0.isAlphanumeric || "-_./:=@".utf8.contains($0)
        }
        if isPlain, !word.isEmpty { return word }
        // Inside single quotes everything is itself but the single quote: the byte, whatever follows it. With a combining
        // mark behind it, it is another character.
        let pieces = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + pieces.map { String(Substring($0)) }.joined(separator: #"'\''"#) + "'"
    }

    /// The bytes as text that can be an argument, or `nil`.
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
