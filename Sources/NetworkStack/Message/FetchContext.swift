internal import FoundationEssentials

extension HTTP {
    /// The state of a fetch when it failed.
    public struct FetchContext: Sendable, Hashable {
        /// The URL of the last request, without user info, query and fragment; `nil` if none was made yet. Until an attempt has a
        /// request, it is that of the attempt before.
        public var url: String?
        /// The metrics up to the failure, as far as the stack knows them.
        public var metrics: Metrics
        /// The number of the attempt, from 1; during the wait for an attempt, that one's. `nil` if it is not known.
        public var attempt: Int?

        /// Makes a context.
        ///
        /// - Parameters:
        ///   - url: The URL of the last request, without secrets.
        ///   - metrics: The metrics up to the failure.
        ///   - attempt: The number of the attempt, from 1.
        public init(url: String? = nil, metrics: Metrics = Metrics(), attempt: Int? = nil) {
            (self.url, self.metrics, self.attempt) = (url, metrics, attempt)
        }

        /// The context of a response.
        init(_ response: Response) {
            self.init(url: response.url.redactedDescription, metrics: response.metrics, attempt: response.attempt)
        }
    }
}
