internal import FoundationEssentials

extension HTTP.Request {
    /// Checks a request before anything is sent, and parses its target.
    ///
    /// - Parameter pathAsIs: Whether segments `.` and `..` of the path stay.
    /// - Returns: The request for a transport (user info as credentials, no fragment), its origin, the text of its URL, and its
    ///   fragment.
    /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change.
    func checked(
        pathAsIs: Bool = false
    ) throws(HTTP.InvalidValue) -> (request: HTTP.Request, origin: HTTP.Origin, urlText: String, fragment: String?) {
        try (pathAsIs ? self : withoutDotSegments()).checkedAsIs()
    }

    private func checkedAsIs() throws(HTTP.InvalidValue) -> (
        request: HTTP.Request, origin: HTTP.Origin, urlText: String, fragment: String?
    ) {
        let target = try HTTP.Target(url)
        try checkMethod()
        try checkHeaders()
        try body.trailers?.validate()
        guard let stripped = target.stripped else { return (self, target.origin, url.absoluteString, nil) }
        var request = self
        guard let url = URL(string: stripped) else {
            throw HTTP.InvalidValue("The URL cannot be read without its user info.")
        }
        request.url = url
        if let userInfo = target.userInfo, !userInfo.isEmpty, userInfo != ":", !headers.contains(.authorization) {
            // Bytes that are not UTF-8 are allowed; their meaning is up to the server (RFC 7617 section 2).
            guard var credentials = userInfo.utf8.percentDecoded else {
                throw HTTP.InvalidValue("The URL's user info has an invalid percent-encoding.")
            }
            guard credentials.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw HTTP.InvalidValue("The URL's user info has a control character (RFC 7617 section 2).")
            }
            if !userInfo.utf8.contains(UInt8(ascii: ":")) { credentials.append(UInt8(ascii: ":")) }
            request.headers.append("Basic \(Data(credentials).base64EncodedString())", for: .authorization)
        }
        return (request, target.origin, stripped, target.fragment)
    }

    /// Checks a `Content-Length` that the caller set, once the body is open; only then is a file's length known. Closes a body
    /// that is refused.
    func checkLength(of source: any HTTPBodySource) throws(HTTP.InvalidValue) {
        guard !headers.values(for: .contentLength).allSatisfy({ $0.length == source.length }) else { return }
        source.close()
        throw Self.otherLength
    }

    private static let otherLength = HTTP.InvalidValue(
        "Content-Length is set by the stack, from the body; this one differs from it."
    )

    private func checkMethod() throws(HTTP.InvalidValue) {
        guard HTTP.Headers.isLegal(name: method.rawValue) else {
            throw HTTP.InvalidValue("The method is not a token: letters, digits and !#$%&'*+-.^_`|~ only.")
        }
        guard method.rawValue != "CONNECT" else {
            throw HTTP.InvalidValue("CONNECT makes a tunnel; a fetch cannot use it.")
        }
        if method == .HEAD || method == .TRACE, !body.isNone {
            throw HTTP.InvalidValue("A \(method) request has no body (RFC 9110 section 9.3).")
        }
    }

    private func checkHeaders() throws(HTTP.InvalidValue) {
        var hosts = 0
        for field in headers {
            try field.check()
            switch field.name {
            case .transferEncoding:
                throw HTTP.InvalidValue("Transfer-Encoding is set by the stack, from the body.")
            case .contentLength where !body.isFile:
                guard let length = body.length, field.value.length == length else { throw Self.otherLength }
            case .connection:
                let value = field.value.lowercased()
                guard value == "close" || value == "keep-alive" || value == "te" else {
                    throw HTTP.InvalidValue("Connection may be close or keep-alive; the stack sets the rest.")
                }
            case .upgrade: throw HTTP.InvalidValue("A fetch cannot change to another protocol; leave Upgrade out.")
            case .host:
                hosts += 1
                // Some backends' request types join the values of one name.
                guard hosts == 1, field.value.utf8.allSatisfy({ $0 != UInt8(ascii: ",") && $0 > 0x20 }) else {
                    throw HTTP.InvalidValue("There can be one Host only, of one name (RFC 9112 section 3.2).")
                }
            default: break
            }
        }
    }
}

extension HTTP.Headers.Field {
    /// Checks that it may be sent.
    ///
    /// - Throws: What to change.
    func check() throws(HTTP.InvalidValue) {
        guard HTTP.Headers.isLegal(name: name.rawValue) else {
            throw HTTP.InvalidValue("A header name is not a token: letters, digits and !#$%&'*+-.^_`|~ only.")
        }
        guard HTTP.Headers.isLegal(value: value) else {
            throw HTTP.InvalidValue("The value of \(name) has a control character, such as a line break.")
        }
    }
}

extension String {
    /// The length in a `Content-Length`: digits only (RFC 9110 section 8.6).
    fileprivate var length: Int64? { utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(self) : nil }
}
