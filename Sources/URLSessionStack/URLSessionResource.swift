public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Network {
    /// The resource that a URLSession stack fetches.
    public typealias URLSessionResource = HTTPResource<URLRequest, URLResponse>

    /// A retry policy of a URLSession stack.
    public typealias URLSessionRetryPolicy = Retry.Policy<Retry.Metadata<URLRequest, URLResponse>>
    /// The error of a fetch on a URLSession stack.
    public typealias URLSessionError = HTTPFetchError<URLResponse, URLError>
}

/// An interceptor of a URLSession stack.
public typealias URLSessionResourceInterceptor = any HTTPResourceInterceptor<URLRequest, URLResponse>

/// An authenticator of a URLSession stack.
public typealias URLRequestAuthenticator = RequestAuthenticator<URLRequest, URLResponse>
