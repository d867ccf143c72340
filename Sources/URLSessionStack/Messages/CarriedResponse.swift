internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The `HTTPURLResponse` that a fetch delivers. It carries the neutral response, with redirects and metrics.
final class CarriedResponse: HTTPURLResponse, CustomReflectable, @unchecked Sendable {
    // Unchecked because its superclass is; what is added is one constant of a Sendable type.

    let response: HTTP.Response

    /// Omits what may be secret; an `HTTPURLResponse` would print it.
    override var description: String { response.description }
    override var debugDescription: String { response.description }
    var customMirror: Mirror { Mirror(self, children: ["response": response], ancestorRepresentation: .suppressed) }

    init?(carrying response: HTTP.Response) {
        self.response = response
        super.init(
            url: response.url,
            statusCode: response.status.rawValue,
            httpVersion: response.version.description,
            headerFields: WireRequest.joined(response.headers).fields
        )
    }

    /// Decodes the fields of an `HTTPURLResponse`; redirects and metrics are not encoded.
    required init?(coder: NSCoder) {
        guard let decoded = HTTPURLResponse(coder: coder)?.httpResponse else { return nil }
        response = decoded
        super.init(coder: coder)
    }
}
