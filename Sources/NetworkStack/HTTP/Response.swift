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
        /// The URL that answered, after redirects.
        public var url: URL
        /// What is known once a fetch has ended. Apart, so that a response is small to pass on.
        private var outcome: Outcome?

        /// The fields that followed the content, if any.
        public var trailers: Headers? {
            get { outcome?.trailers }
            set { outcome = Outcome(trailers: newValue, redirects: redirects, metrics: metrics) }
        }

        /// The redirects that were followed, in order.
        public var redirects: [Redirect] {
            get { outcome?.redirects ?? [] }
            set { outcome = Outcome(trailers: trailers, redirects: newValue, metrics: metrics) }
        }

        /// What the fetch took. Empty while a fetch is under way.
        public var metrics: Metrics {
            get { outcome?.metrics ?? Metrics() }
            set { outcome = Outcome(trailers: trailers, redirects: redirects, metrics: newValue) }
        }

        /// How a fetch went, besides what its response says.
        private final class Outcome: Sendable {
            let trailers: Headers?
            let redirects: [Redirect]
            let metrics: Metrics

            init(trailers: Headers?, redirects: [Redirect], metrics: Metrics) {
                self.trailers = trailers
                self.redirects = redirects
                self.metrics = metrics
            }
        }

        /// Notes how the fetch went.
        mutating func ended(trailers: Headers?, redirects: [Redirect], metrics: Metrics) {
            outcome = Outcome(trailers: trailers, redirects: redirects, metrics: metrics)
        }

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
        }
    }
}

extension HTTP.Response {
    /// Whether both are the same, what they took included.
    public static func == (left: HTTP.Response, right: HTTP.Response) -> Bool {
        left.status == right.status && left.version == right.version && left.headers == right.headers
            && left.url == right.url && left.trailers == right.trailers && left.redirects == right.redirects
            && left.metrics == right.metrics
    }

    /// Feeds everything to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(version)
        hasher.combine(headers)
        hasher.combine(url)
        hasher.combine(trailers)
        hasher.combine(redirects)
        hasher.combine(metrics)
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
