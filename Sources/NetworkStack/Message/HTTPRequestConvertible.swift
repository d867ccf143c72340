internal import FoundationEssentials

/// A request type that any HTTP stack can take: it converts from and to the neutral message.
public protocol HTTPRequestConvertible: Sendable {
    /// Makes the client's request of a neutral one.
    ///
    /// - Parameter request: The neutral request.
    /// - Throws: An error, such as ``HTTP/InvalidValue``, if the client's type cannot hold it. A fetch whose request is not made for that ends with
    ///   ``HTTPFetchError/noRequest(_:)``.
    init(_ request: HTTP.Request) throws

    /// The neutral request.
    ///
    /// - Throws: An error, such as ``HTTP/InvalidValue``, if this is no HTTP request. A fetch of it ends with ``HTTPFetchError/noRequest(_:)``.
    func httpRequest() throws -> HTTP.Request

    /// The same request with a URL whose path has no segments `.` and `..` (RFC 3986 section 5.2.4). Interceptors get requests
    /// so, unless ``HTTP/Options/pathAsIs`` is set.
    ///
    /// - Returns: The request. By default it is made of the neutral one, if there is something to remove.
    /// - Throws: What ``init(_:)`` and ``httpRequest()`` throw.
    func withoutDotSegments() throws -> Self
}

extension HTTPRequestConvertible {
    /// The same request, made of the neutral one if its path has segments `.` or `..`.
    public func withoutDotSegments() throws -> Self {
        let request = try httpRequest()
        let changed = request.withoutDotSegments()
        return changed.isIdentical(to: request) ? self : try Self(changed)
    }
}

/// A response type that can be read as a neutral one.
public protocol HTTPResponseConvertible: Sendable {
    /// The neutral response, or `nil` if this is no HTTP response.
    var httpResponse: HTTP.Response? { get }
}

extension HTTP.Request: HTTPRequestConvertible {
    /// The request itself.
    @inlinable
    public init(_ request: HTTP.Request) { self = request }

    /// The request itself.
    @inlinable
    public func httpRequest() -> HTTP.Request { self }

    /// The request, its path without segments `.` and `..`.
    public func withoutDotSegments() -> HTTP.Request {
        guard let text = url.absoluteString.withoutDotSegments, let url = URL(string: text) else { return self }
        var request = self
        request.url = url
        return request
    }
}

extension HTTP.Response: HTTPResponseConvertible {
    /// The response itself.
    public var httpResponse: HTTP.Response? { self }
}
