internal import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Foundation's request as the request of a stack.
extension URLRequest: HTTPRequestConvertible {
    /// Makes a `URLRequest` from a neutral request.
    ///
    /// A `URLRequest` keeps its header fields in a dictionary, so lines of one name are joined and the order is lost. A body from
    /// a file or a stream is carried in `httpBodyStream`; ``httpRequest()`` returns it unchanged.
    ///
    /// - Parameter request: The neutral request.
    /// - Throws: ``/NetworkStack/Network/ConfigurationError/unsupported(_:reason:)`` for a method that a `URLRequest` would
    ///   change, such as `get`. A fetch of it fails with ``/NetworkStack/HTTPFetchError/noRequest(_:)``.
    public init(_ request: HTTP.Request) throws {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        guard httpMethod == request.method.rawValue else {
            throw Network.ConfigurationError.unsupported(
                .caseSensitiveMethods,
                reason: Platform.capabilities.reason(against: .caseSensitiveMethods) ?? ""
            )
        }
        // All at once: setting single fields would change the case of names, and drop illegal fields instead of refusing them.
        allHTTPHeaderFields = WireRequest.joined(request.headers).fields
        switch request.body {
        case .none: break
        case .bytes(let data): httpBody = data
        case .file(let path): httpBodyStream = CarriedBody(request.body, path: path)
        case .stream: httpBodyStream = CarriedBody(request.body)
        }
    }

    /// The request without the segments `.` and `..` in its URL's path.
    public func withoutDotSegments() -> URLRequest {
        guard let text = url?.absoluteString.withoutDotSegments, let url = URL(string: text) else { return self }
        var request = self
        request.url = url
        return request
    }

    /// The neutral request: method, URL, header fields and body.
    ///
    /// Policy in a `URLRequest` (`timeoutInterval`, `cachePolicy`, cookies, network service) is ignored; use
    /// ``/NetworkStack/HTTP/Options``. A body stream that the caller set can be sent once; a second sending fails with
    /// ``/NetworkStack/HTTPFetchError/bodyNotReplayable(_:)``. Its length is that of a `Content-Length` field, if there is one.
    ///
    /// - Throws: ``/NetworkStack/HTTP/InvalidValue`` if there is no URL.
    public func httpRequest() throws -> HTTP.Request {
        guard let url else { throw HTTP.InvalidValue("The URLRequest has no URL.") }
        let headers = HTTP.Headers(
            (allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map { .init(name: .init($0.key), value: $0.value) }
        )
        let body: HTTP.Body
        if let carried = httpBodyStream as? CarriedBody {
            body = carried.body
        } else if let stream = httpBodyStream {
            body = .stream(
                HTTP.Body.Stream(
                    InputStreamChunks(stream),
                    length: headers[.contentLength].flatMap { Int64($0) },
                    sharing: InputStreamClaims.claim(to: stream)
                )
            )
        } else {
            body = httpBody.map { .bytes($0) } ?? .none
        }
        return HTTP.Request(method: .init(rawValue: httpMethod ?? "GET"), url: url, headers: headers, body: body)
    }
}
