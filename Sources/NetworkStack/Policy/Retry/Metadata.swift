public import FoundationEssentials

/// What a retry policy is told of a failed attempt on an HTTP stack.
public protocol HTTPRetryMetadata<Request, Response>: Sendable {
    /// The request of the stack.
    associatedtype Request: HTTPRequestConvertible
    /// The response of the stack.
    associatedtype Response: HTTPResponseConvertible

    /// The request, or `nil` if it could not be made or was refused as it is.
    var request: Request? { get }
    /// The content that came with the failure, if any did.
    var payload: Data? { get }
    /// The response that came with the failure, if one did.
    var response: Response? { get }

    /// Makes it of what an interceptor is told.
    ///
    /// - Parameters:
    ///   - request: The request, or `nil` if it could not be made or was refused as it is.
    ///   - payload: The content that came with the failure, if any did.
    ///   - response: The response that came with the failure, if one did.
    init(request: Request?, payload: Data?, response: Response?)
}

extension Retry {
    /// What a retry policy is told of a failed attempt on an HTTP stack.
    public struct Metadata<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: HTTPRetryMetadata {
        /// The request, or `nil` if it could not be made or was refused as it is.
        public let request: Request?
        /// The content that came with the failure, if any did.
        public let payload: Data?
        /// The response that came with the failure, if one did.
        public let response: Response?

        /// Makes it of what an interceptor is told.
        ///
        /// - Parameters:
        ///   - request: The request, or `nil` if it could not be made or was refused as it is.
        ///   - payload: The content that came with the failure, if any did.
        ///   - response: The response that came with the failure, if one did.
        public init(request: Request?, payload: Data?, response: Response?) {
            self.request = request
            self.payload = payload
            self.response = response
        }
    }
}
