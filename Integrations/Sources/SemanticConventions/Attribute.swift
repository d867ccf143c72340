package import NetworkStack

/// Names of attributes in OpenTelemetry's semantic conventions for HTTP clients.
///
/// https://opentelemetry.io/docs/specs/semconv/http/
package enum Attribute {
    package static let connectionState = "http.connection.state"
    package static let errorMessage = "error.message"
    package static let errorType = "error.type"
    package static let method = "http.request.method"
    package static let originalMethod = "http.request.method_original"
    package static let peerAddress = "network.peer.address"
    package static let peerPort = "network.peer.port"
    package static let protocolVersion = "network.protocol.version"
    package static let requestBodySize = "http.request.body.size"
    package static let resendCount = "http.request.resend_count"
    package static let responseBodySize = "http.response.body.size"
    package static let serverAddress = "server.address"
    package static let serverPort = "server.port"
    package static let status = "http.response.status_code"
    package static let url = "url.full"
}

/// What stands for a value outside of a fixed set.
package let otherValue = "_OTHER"

extension HTTP.Method {
    private static let known: Set<HTTP.Method> = [
        .GET, .HEAD, .POST, .PUT, .PATCH, .DELETE, .OPTIONS, .TRACE, "CONNECT",
    ]

    /// The value of `http.request.method`: a method of RFC 9110 or RFC 5789, or `_OTHER`.
    package var attribute: String { Self.known.contains(self) ? rawValue : otherValue }
}

extension HTTP.StatusCode {
    /// The value of `error.type` of a response with this status, if the status is one of a failure.
    package var errorType: String? { rawValue >= 400 ? "\(rawValue)" : nil }
}

extension HTTP.Version {
    /// The value of `network.protocol.version`: `1.1`, `2`.
    package var attribute: String { major > 1 ? "\(major)" : "\(major).\(minor)" }
}

extension HTTPError {
    /// The value of `error.type`: the status if it was the failure, otherwise the name of the case. Transport failures have their
    /// kind, too: `transport.connect`.
    package var errorType: String {
        switch caseName {
        case "http": statusCode.map { "\($0)" } ?? caseName
        case "transport": transportFailure.map { "transport.\($0)" } ?? caseName
        default: caseName
        }
    }
}
