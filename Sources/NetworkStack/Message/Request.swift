public import FoundationEssentials

extension HTTP {
    /// A request message: method, URL, header fields and body. How it is carried out is ``HTTP/Options``.
    public struct Request: Sendable {
        private struct Content: Sendable {
            var method: Method
            var url: URL
            var headers: Headers
            var body: Body
        }

        /// One reference, because every fetch copies its request several times.
        private var content: Shared<Content>

        /// The method.
        public var method: Method {
            get { content.value.method }
            set { Shared.change(&content) { $0.method = newValue } }
        }

        /// The target: an absolute http or https URL of at most 65,536 bytes. User info is sent as Basic credentials; a fragment
        /// is not sent.
        public var url: URL {
            get { content.value.url }
            set { Shared.change(&content) { $0.url = newValue } }
        }

        /// The header fields.
        public var headers: Headers {
            get { content.value.headers }
            set { Shared.change(&content) { $0.headers = newValue } }
        }

        /// The body.
        public var body: Body {
            get { content.value.body }
            set { Shared.change(&content) { $0.body = newValue } }
        }

        /// The same request, without its body.
        var withoutBody: Request {
            guard !body.isNone else { return self }
            var request = self
            request.body = .none
            return request
        }

        /// Whether both are unchanged copies of one request.
        func isIdentical(to other: Request) -> Bool { content === other.content }

        /// Makes a request.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - url: The target.
        ///   - headers: The header fields.
        ///   - body: The body.
        public init(method: Method = .GET, url: URL, headers: Headers = [:], body: Body = .none) {
            content = Shared(Content(method: method, url: url, headers: headers, body: body))
        }

        /// Makes a request from a URL's text.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - url: The target's text of at most 65,536 bytes. A host beyond ASCII becomes its A-label. Illegal characters of a
        ///     path or query, such as a blank, are escaped; escapes are kept.
        ///   - headers: The header fields.
        ///   - body: The body.
        /// - Throws: ``HTTP/InvalidValue`` if the text is no absolute http or https URL or is too long; if it has a control
        ///   character, a blank at an end, a backslash before its query, a second `@` or another illegal character in its
        ///   authority; or if its host cannot be converted to its A-label by lower-casing.
        public init(method: Method = .GET, url: String, headers: Headers = [:], body: Body = .none) throws(HTTP
            .InvalidValue)
        {
            let parsed: URL
            do { parsed = try URLText.url(url) } catch { throw HTTP.InvalidValue(error.reason) }
            _ = try Origin(of: parsed)
            self.init(method: method, url: parsed, headers: headers, body: body)
        }
    }
}

extension HTTP.Request: CustomStringConvertible {
    /// The method, the URL without its secrets, and the head without secret fields.
    public var description: String { "\(method) \(url.redactedDescription)\n\(headers)" }
}

extension HTTP.Request: CustomReflectable {
    /// The method, the URL without its secrets, and the head without secret fields.
    public var customMirror: Mirror {
        Mirror(self, children: ["method": method, "url": url.redactedDescription, "headers": headers])
    }
}
