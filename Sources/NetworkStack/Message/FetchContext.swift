internal import FoundationEssentials

extension HTTP {
    /// Where a fetch was when it failed.
    public struct FetchContext: Sendable, Hashable {
        /// The URL of the last request, without user info, query and fragment; `nil` if there was no request yet.
        public var url: String?
        /// What was measured until then, as far as the stack knows it.
        public var metrics: Metrics
        /// Which attempt of the fetch it was, from 1; `nil` if the error does not know.
        public var attempt: Int?

        /// Makes a context.
        ///
        /// - Parameters:
        ///   - url: The URL of the last request, without secrets.
        ///   - metrics: What was measured.
        ///   - attempt: Which attempt of the fetch it was, from 1.
        public init(url: String? = nil, metrics: Metrics = Metrics(), attempt: Int? = nil) {
            (self.url, self.metrics, self.attempt) = (url, metrics, attempt)
        }

        /// How many requests the attempt sent: one more than the redirects it followed.
        public var hops: Int { metrics.hopCount }

        /// The context of a response.
        init(_ response: Response) {
            self.init(url: response.url.redactedDescription, metrics: response.metrics)
        }
    }
}
