public import FoundationEssentials

/// What a retry policy gets about a failed attempt on an HTTP stack.
public protocol HTTPRetryMetadata<Request, Response>: Sendable {
    /// The request of the stack.
    associatedtype Request: HTTPRequestConvertible
    /// The response of the stack.
    associatedtype Response: HTTPResponseConvertible

    /// The request, or `nil` if the attempt ended before it was scheduled.
    var request: Request? { get }
    /// The body of the response that failed, if there was one.
    var payload: Data? { get }
    /// The response that failed, if there was one.
    var response: Response? { get }

    /// Makes the metadata from an interceptor's parameters.
    ///
    /// - Parameters:
    ///   - request: The request, or `nil` if the attempt ended before it was scheduled.
    ///   - payload: The body of the response that failed, if there was one.
    ///   - response: The response that failed, if there was one.
    init(request: Request?, payload: Data?, response: Response?)
}

extension Retry {
    /// What a retry policy gets about a failed attempt on an HTTP stack.
    public struct Metadata<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: HTTPRetryMetadata {
        /// The request, or `nil` if the attempt ended before it was scheduled.
        public let request: Request?
        /// The body of the response that failed, if there was one.
        public let payload: Data?
        /// The response that failed, if there was one.
        public let response: Response?

        /// Makes the metadata from an interceptor's parameters.
        ///
        /// - Parameters:
        ///   - request: The request, or `nil` if the attempt ended before it was scheduled.
        ///   - payload: The body of the response that failed, if there was one.
        ///   - response: The response that failed, if there was one.
        public init(request: Request?, payload: Data?, response: Response?) {
            self.request = request
            self.payload = payload
            self.response = response
        }
    }
}
