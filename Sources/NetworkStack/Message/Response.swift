public import FoundationEssentials

extension HTTP {
    /// A response: its head, what led to it, and what it took.
    public struct Response: Sendable, Hashable {
        /// A redirect that was followed.
        public struct Redirect: Sendable, Hashable {
            /// The URL that answered with the redirect.
            public let url: URL
            /// The status it answered with.
            public let status: StatusCode

            /// Records a redirect.
            public init(url: URL, status: StatusCode) {
                self.url = url
                self.status = status
            }
        }

        private struct Content: Sendable, Hashable {
            var status: StatusCode
            var version: Version
            var headers: Headers
            var url: URL
            var trailers: Headers?
            var decodedFrom: [String] = []
            var redirects: [Redirect] = []
            var metrics = Metrics()
            var errorBody: Data?
        }

        /// In one place, so that a response is small to pass on: every fetch does, several times.
        private var content: Shared<Content>

        /// The status code.
        public var status: StatusCode {
            get { content.value.status }
            set { Shared.change(&content) { $0.status = newValue } }
        }

        /// The version of HTTP the response came with.
        public var version: Version {
            get { content.value.version }
            set { Shared.change(&content) { $0.version = newValue } }
        }

        /// The header fields.
        public var headers: Headers {
            get { content.value.headers }
            set { Shared.change(&content) { $0.headers = newValue } }
        }

        /// The URL that answered, after redirects.
        public var url: URL {
            get { content.value.url }
            set { Shared.change(&content) { $0.url = newValue } }
        }

        /// The fields that followed the content, if any.
        public var trailers: Headers? {
            get { content.value.trailers }
            set { Shared.change(&content) { $0.trailers = newValue } }
        }

        /// The content codings that the stack has undone, in the order they were applied, as the server names them: `["gzip"]`.
        /// Empty where the content is as it was sent, and where there is none.
        ///
        /// The fields stay as they came: `Content-Encoding` and `Content-Length` describe what travelled, not what is delivered.
        /// Who passes the response on leaves both out where this is not empty.
        public var decodedFrom: [String] {
            get { content.value.decodedFrom }
            set { Shared.change(&content) { $0.decodedFrom = newValue } }
        }

        /// The length of the content in bytes, as `Content-Length` announces it; `nil` where nothing does, where the content comes in
        /// chunks, and where it was decoded (``decodedFrom``), so that its length is another. For HEAD it is the length that GET
        /// would announce.
        public var contentLength: Int64? { decodedFrom.isEmpty ? headers.announcedLength : nil }

        /// The redirects that were followed, in order.
        public var redirects: [Redirect] {
            get { content.value.redirects }
            set { Shared.change(&content) { $0.redirects = newValue } }
        }

        /// The content of an unsuccessful response, for ``HTTPError/body``.
        var errorBody: Data? {
            get { content.value.errorBody }
            set { Shared.change(&content) { $0.errorBody = newValue } }
        }

        /// What the fetch took. Empty while a fetch is under way.
        public var metrics: Metrics {
            get { content.value.metrics }
            set { Shared.change(&content) { $0.metrics = newValue } }
        }

        /// Notes how the fetch went. The last hop's figures are completed in their place: there are many, to be copied once.
        mutating func ended(trailers: Headers?, redirects: [Redirect], metrics: Metrics, after total: Duration) {
            Shared.change(&content) { content in
                (content.trailers, content.redirects, content.metrics) = (trailers, redirects, metrics)
                content.metrics.complete(redirects: redirects.count, after: total)
            }
        }

        /// Makes a response.
        ///
        /// - Parameters:
        ///   - status: The status code.
        ///   - version: The version of HTTP.
        ///   - headers: The header fields.
        ///   - url: The URL that answered.
        public init(status: StatusCode, version: Version = .http1_1, headers: Headers = [:], url: URL) {
            content = Shared(Content(status: status, version: version, headers: headers, url: url))
        }
    }
}

extension HTTP.Response {
    /// Whether both are the same, what they took included.
    public static func == (left: HTTP.Response, right: HTTP.Response) -> Bool {
        left.content.value == right.content.value
    }

    /// Feeds everything to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(content.value)
    }
}

extension HTTP.Response.Redirect: CustomStringConvertible {
    /// The status, and the URL without its secrets.
    public var description: String { "\(status) \(url.redactedDescription)" }
}

extension HTTP.Response.Redirect: CustomReflectable {
    /// The status, and the URL without its secrets.
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "url": url.redactedDescription]) }
}

extension HTTP.Response: CustomStringConvertible {
    /// The status, the URL without its secrets, and the head with secret fields left out.
    public var description: String { "\(version) \(status) \(url.redactedDescription)\n\(headers)" }
}

extension HTTP.Response: CustomReflectable {
    /// The status, the URL without its secrets, and the head with secret fields left out.
    public var customMirror: Mirror {
        Mirror(self, children: ["status": status, "url": url.redactedDescription, "headers": headers])
    }
}
