internal import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Foundation's response as the response of a stack.
extension URLResponse: HTTPResponseConvertible {
    /// The neutral response, or `nil` if this is no HTTP response.
    ///
    /// For a response that a stack delivered it is complete, with redirects and metrics. For any other `HTTPURLResponse` it has
    /// the status and the header fields; its version is 1.1, because an `HTTPURLResponse` does not contain it.
    public var httpResponse: HTTP.Response? {
        if let carried = self as? CarriedResponse { return carried.response }
        guard let response = self as? HTTPURLResponse, let url else { return nil }
        return ReceivedHead(response, url: url).response
    }
}
