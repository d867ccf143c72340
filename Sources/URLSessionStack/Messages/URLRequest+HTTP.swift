internal import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLRequest: HTTPRequestConvertible {
    /// Makes a `URLRequest` of a neutral request.
    ///
    /// A `URLRequest` keeps its header fields in a dictionary: lines of one name are joined, and their order is lost. Content
    /// from a file or a stream rides in `httpBodyStream` and comes back whole in ``httpRequest()``.
    ///
    /// - Parameter request: The neutral request.
    /// - Throws: ``/NetworkStack/Network/ConfigurationError/unsupported(_:reason:)`` for a method that a `URLRequest` would change, such as `get`;
    ///   a fetch of it ends with ``/NetworkStack/HTTPFetchError/noRequest(_:)``.
    public init(_ request: HTTP.Request) throws {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        guard httpMethod == request.method.rawValue else {
            throw Network.ConfigurationError.unsupported(
                .methodCase,
                reason: Platform.capabilities.reason(against: .methodCase) ?? ""
            )
        }
        // Whole, as setting one at a time would change the case of names and drop what is illegal instead of refusing it.
        allHTTPHeaderFields = WireRequest.joined(request.headers).fields
        switch request.body {
        case .none: break
        case .bytes(let data): httpBody = data
        case .file(let path): httpBodyStream = CarriedBody(request.body, path: path)
        case .stream: httpBodyStream = CarriedBody(request.body)
        }
    }

    /// The request, its URL's path without segments `.` and `..`.
    public func withoutDotSegments() -> URLRequest {
        guard let text = url?.absoluteString.withoutDotSegments, let url = URL(string: text) else { return self }
        var request = self
        request.url = url
        return request
    }

    /// The neutral request: method, URL, header fields and content.
    ///
    /// How a `URLRequest` wants to be carried out (`timeoutInterval`, `cachePolicy`, cookies, network service) is not part of
    /// the message and does not count; ``/NetworkStack/HTTP/Options`` do. A body stream of one's own can be sent once (then it is
    /// ``/NetworkStack/HTTPFetchError/bodyNotReplayable(_:)``), and its length is that of a `Content-Length` field, if there is one.
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
