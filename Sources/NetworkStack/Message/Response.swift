public import FoundationEssentials

extension HTTP {
    /// A response: its head, the redirects before it, and its metrics.
    public struct Response: Sendable, Hashable {
        /// A redirect that was followed.
        public struct Redirect: Sendable, Hashable {
            /// The URL that redirected.
            public let url: URL
            /// The status of the redirect.
            public let status: StatusCode

            /// Makes a record of a redirect.
            ///
            /// - Parameters:
            ///   - url: The URL that redirected.
            ///   - status: The status of the redirect.
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
            var isErrorBodyCut = false
            var attempt: Int?
            var request = Uncompared<Request?>(value: nil)
        }

        /// The request that was answered: after redirects, the last one. It has no body, and none of what the stack adds to it (a
        /// jar's cookies, the stack's credentials). `nil` for a response that no fetch returned. Comparing responses ignores it.
        public internal(set) var request: Request? {
            get { content.value.request.value }
            set { Shared.change(&content) { $0.request.value = newValue } }
        }

        /// A part that does not count when responses are compared.
        private struct Uncompared<Value: Sendable>: Sendable, Hashable {
            var value: Value

            static func == (left: Self, right: Self) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }

        /// One reference, because every fetch copies its response several times.
        private var content: Shared<Content>

        /// The status code.
        public var status: StatusCode {
            get { content.value.status }
            set { Shared.change(&content) { $0.status = newValue } }
        }

        /// The response's version of HTTP.
        public var version: Version {
            get { content.value.version }
            set { Shared.change(&content) { $0.version = newValue } }
        }

        /// The header fields.
        public var headers: Headers {
            get { content.value.headers }
            set { Shared.change(&content) { $0.headers = newValue } }
        }

        /// The URL of the response, after redirects.
        public var url: URL {
            get { content.value.url }
            set { Shared.change(&content) { $0.url = newValue } }
        }

        /// The fields that followed the body, if any.
        public var trailers: Headers? {
            get { content.value.trailers }
            set { Shared.change(&content) { $0.trailers = newValue } }
        }

        /// The content codings that the stack decoded, in the order in which they were applied, as the server names them:
        /// `["gzip"]`. Empty if the body was not decoded, or if there is none.
        ///
        /// The header fields stay as received: `Content-Encoding` and `Content-Length` describe the body before decoding. Code
        /// that forwards the response has to omit both if this is not empty.
        public var decodedFrom: [String] {
            get { content.value.decodedFrom }
            set { Shared.change(&content) { $0.decodedFrom = newValue } }
        }

        /// The length of the body in bytes, as in `Content-Length`. It is `nil` if there is none, if the body was sent in chunks,
        /// or if it was decoded (``decodedFrom``), which changes its length. For HEAD it is the length that GET would have.
        public var contentLength: Int64? { decodedFrom.isEmpty ? headers.announcedLength : nil }

        /// The redirects that were followed, in order.
        public var redirects: [Redirect] {
            get { content.value.redirects }
            set { Shared.change(&content) { $0.redirects = newValue } }
        }

        /// The body of an unsuccessful response, for ``HTTPError/body``.
        var errorBody: Data? {
            get { content.value.errorBody }
            set { Shared.change(&content) { $0.errorBody = newValue } }
        }

        /// Which attempt of its fetch it answered, from 1.
        var attempt: Int? { content.value.attempt }

        /// Whether ``errorBody`` ends where a limit cut it.
        var isErrorBodyCut: Bool {
            get { content.value.isErrorBodyCut }
            set { Shared.change(&content) { $0.isErrorBodyCut = newValue } }
        }

        /// The metrics of the fetch; of a stream, until its head. Empty in an event of a response that is still being received.
        public var metrics: Metrics {
            get { content.value.metrics }
            set { Shared.change(&content) { $0.metrics = newValue } }
        }

        /// Sets the figures at the end of the fetch. The last hop's metrics are completed in place, because copying them is
        /// costly.
        mutating func ended(
            trailers: Headers?,
            redirects: [Redirect],
            metrics: Metrics,
            attempt: Int,
            complete: (inout Metrics) -> Void
        ) {
            Shared.change(&content) { content in
                (content.trailers, content.redirects, content.metrics) = (trailers, redirects, metrics)
                content.attempt = attempt
                complete(&content.metrics)
            }
        }

        /// Makes a response.
        ///
        /// - Parameters:
        ///   - status: The status code.
        ///   - version: The version of HTTP.
        ///   - headers: The header fields.
        ///   - url: The URL of the response.
        public init(status: StatusCode, version: Version = .http1_1, headers: Headers = [:], url: URL) {
            content = Shared(Content(status: status, version: version, headers: headers, url: url))
        }
    }
}

extension HTTP.Response {
    /// Whether both are equal, including their metrics.
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
    /// The status, the URL without its secrets, and the head without secret fields.
    public var description: String { "\(version) \(status) \(url.redactedDescription)\n\(headers)" }
}

extension HTTP.Response: CustomReflectable {
    /// The status, the URL without its secrets, and the head without secret fields.
    public var customMirror: Mirror {
        Mirror(self, children: ["status": status, "url": url.redactedDescription, "headers": headers])
    }
}
