public import FoundationEssentials

extension HTTP {
    /// A request message: what is asked, of whom. How it is carried out is ``HTTP/Options``.
    public struct Request: Sendable {
        private struct Content: Sendable {
            var method: Method
            var url: URL
            var headers: Headers
            var body: Body
        }

        /// In one place, so that a request is small to pass on: every fetch does, several times.
        private var content: Shared<Content>

        /// The method.
        public var method: Method {
            get { content.value.method }
            set { Shared.change(&content) { $0.method = newValue } }
        }

        /// The target: an absolute http or https URL of at most 65,536 bytes. User info in it is sent as Basic credentials, a
        /// fragment is not sent.
        public var url: URL {
            get { content.value.url }
            set { Shared.change(&content) { $0.url = newValue } }
        }

        /// The header fields.
        public var headers: Headers {
            get { content.value.headers }
            set { Shared.change(&content) { $0.headers = newValue } }
        }

        /// The content.
        public var body: Body {
            get { content.value.body }
            set { Shared.change(&content) { $0.body = newValue } }
        }

        /// Whether both are copies of one request, neither of them changed since.
        func isIdentical(to other: Request) -> Bool { content === other.content }

        /// Makes a request.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - url: The target.
        ///   - headers: The header fields.
        ///   - body: The content.
        public init(method: Method = .GET, url: URL, headers: Headers = [:], body: Body = .none) {
            content = Shared(Content(method: method, url: url, headers: headers, body: body))
        }

        /// Makes a request from a URL's text.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - url: The target's text of at most 65,536 bytes. A host beyond ASCII becomes its A-label. What a path or query may
        ///     not hold, such as a blank, is escaped; escapes stay what they are.
        ///   - headers: The header fields.
        ///   - body: The content.
        /// - Throws: ``HTTP/InvalidValue`` if the text is no absolute http or https URL, is too long, has a control
        ///   character, a blank at an end, a backslash before its query, a second `@` or another character that its authority may not
        ///   hold, or a host that needs more than lower case to become its A-label.
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
    /// The method, the URL without its secrets, and the head with secret fields left out.
    public var description: String { "\(method) \(url.redactedDescription)\n\(headers)" }
}

extension HTTP.Request: CustomReflectable {
    /// The method, the URL without its secrets, and the head with secret fields left out.
    public var customMirror: Mirror {
        Mirror(self, children: ["method": method, "url": url.redactedDescription, "headers": headers])
    }
}
