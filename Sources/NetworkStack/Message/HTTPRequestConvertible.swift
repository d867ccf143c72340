internal import FoundationEssentials

/// A request type that HTTP stacks accept: it converts from and to the neutral message.
public protocol HTTPRequestConvertible: Sendable {
    /// Makes the client's request from a neutral one.
    ///
    /// - Parameter request: The neutral request.
    /// - Throws: An error, such as ``HTTP/InvalidValue``, if the client's type cannot represent it. The fetch then ends with
    ///   ``HTTPFetchError/noRequest(_:)``.
    init(_ request: HTTP.Request) throws

    /// Returns the neutral request.
    ///
    /// - Throws: An error, such as ``HTTP/InvalidValue``, if this is no HTTP request. A fetch of it ends with
    ///   ``HTTPFetchError/noRequest(_:)``.
    func httpRequest() throws -> HTTP.Request

    /// Returns the request without the segments `.` and `..` in its URL's path (RFC 3986 section 5.2.4). Interceptors get such
    /// requests, unless ``HTTP/Options/pathAsIs`` is set.
    ///
    /// - Returns: The request. By default it is made from the neutral one, if there is something to remove.
    /// - Throws: The errors of ``init(_:)`` and ``httpRequest()``.
    func withoutDotSegments() throws -> Self
}

extension HTTPRequestConvertible {
    /// Returns the request, made from the neutral one if its path has segments `.` or `..`.
    public func withoutDotSegments() throws -> Self {
        let request = try httpRequest()
        let changed = request.withoutDotSegments()
        return changed.isIdentical(to: request) ? self : try Self(changed)
    }
}

/// A response type that converts to a neutral one.
public protocol HTTPResponseConvertible: Sendable {
    /// The neutral response, or `nil` if this is no HTTP response.
    var httpResponse: HTTP.Response? { get }
}

extension HTTP.Request: HTTPRequestConvertible {
    /// Copies the request.
    @inlinable
    public init(_ request: HTTP.Request) { self = request }

    /// The request itself.
    @inlinable
    public func httpRequest() -> HTTP.Request { self }

    /// Returns the request without the segments `.` and `..` in its path.
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
