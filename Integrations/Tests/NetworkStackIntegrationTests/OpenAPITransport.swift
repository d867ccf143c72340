import FoundationEssentials
import HTTPTypes
import NetworkStack
import NetworkStackHTTPTypes

/// Carries the calls of a generated client on a stack.
struct NetworkStackTransport<Stack: HTTPNetworkStack<Data>>: ClientTransport {
    let stack: Stack

    func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let request = try request.on(server: baseURL)
        let (response, stream) = try await stack.send(request, body: HTTP.Body(body))
        guard request.method != .head else { return (response, nil) }
        let length = response.headerFields[.contentLength].flatMap { Int64($0) }
        let body = HTTPBody(stream, length: length.map { .known($0) } ?? .unknown, iterationBehavior: .single)
        return (response, body)
    }
}

extension HTTP.Body {
    /// A body that is read while it is sent. It is sent again after a redirect or for a retry, if it can be read again.
    init(_ body: HTTPBody?) {
        guard let body else {
            self = .none
            return
        }
        let length: Int64? = if case .known(let length) = body.length { length } else { nil }
        switch body.iterationBehavior {
        case .single: self = .chunks(body, length: length)
        case .multiple: self = .chunks(length: length) { body }
        }
    }
}
