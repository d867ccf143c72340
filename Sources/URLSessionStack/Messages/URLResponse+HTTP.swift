internal import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLResponse: HTTPResponseConvertible {
    /// The neutral response, or `nil` if this is no HTTP response.
    ///
    /// That of a response that a stack delivered is complete: redirects, metrics. Of any other `HTTPURLResponse` it has the
    /// status and the header fields; the version is said to be 1.1, as a `HTTPURLResponse` does not tell.
    public var httpResponse: HTTP.Response? {
        if let carried = self as? CarriedResponse { return carried.response }
        guard let response = self as? HTTPURLResponse, let url else { return nil }
        return ReceivedHead(response, url: url).response
    }
}
