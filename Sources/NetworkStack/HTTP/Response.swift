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

        /// The status code.
        public var status: StatusCode
        /// The version of HTTP the response came with.
        public var version: Version
        /// The header fields.
        public var headers: Headers
        /// The fields that followed the content, if any.
        public var trailers: Headers?
        /// The URL that answered, after redirects.
        public var url: URL
        /// The redirects that were followed, in order.
        public var redirects: [Redirect]
        /// What the fetch took. Empty while a fetch is under way.
        public var metrics: Metrics

        /// Makes a response.
        ///
        /// - Parameters:
        ///   - status: The status code.
        ///   - version: The version of HTTP.
        ///   - headers: The header fields.
        ///   - url: The URL that answered.
        public init(status: StatusCode, version: Version = .http1_1, headers: Headers = [:], url: URL) {
            self.status = status
            self.version = version
            self.headers = headers
            self.url = url
            trailers = nil
            redirects = []
            metrics = Metrics()
        }
    }
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
