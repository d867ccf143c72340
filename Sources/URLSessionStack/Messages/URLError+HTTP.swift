public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLError: HTTPTransportError {
    /// What went wrong.
    ///
    /// URLSession on Linux reports most failures as `.unknown` (-1) and leaves the rest to libcurl's words in
    /// `localizedDescription`; then the kind is read from those. So it is where one address of the host has refused: all that
    /// goes wrong after that, on another address, too, URLSession calls `.cannotConnectToHost`.
    public var kind: HTTP.FailureKind {
        switch code {
        case .cannotFindHost, .dnsLookupFailed: .dns
        case .notConnectedToInternet: .connect
        case .cannotConnectToHost, .timedOut:
            userInfo[NSLocalizedDescriptionKey] == nil ? .connect : Self.kind(of: anonymousDescription)
        case .networkConnectionLost: userInfo[Self.truncationKey] == nil ? .receive : .truncated
        case .badServerResponse: .empty
        case .cannotParseResponse, .redirectToNonExistentLocation: .malformed
        case .cannotDecodeContentData, .cannotDecodeRawData: .decoding
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired:
            .tls
        case .unknown: Self.kind(of: anonymousDescription)
        default: .other
        }
    }

    /// Where in its life the transfer was, if that follows from the kind.
    public var phase: HTTP.Phase? {
        switch kind {
        case .dns: .resolving
        case .connect: .connecting
        case .tls: .securing
        case .send: .sending
        case .truncated, .decoding: .receiving
        default: nil
        }
    }
}

extension URLError {
    private static let truncationKey = "NetworkStackReceivedLength"

    /// A response that ended before its time.
    init(_ code: Code, truncatedAt received: Int64, of length: Int64) {
        self.init(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: "The response ended after \(received) of \(length) bytes.",
                Self.truncationKey: received,
            ]
        )
    }

    /// A head that is refused.
    init(_ fault: HeadJudge.Fault) {
        self.init(.cannotParseResponse, userInfo: [NSLocalizedDescriptionKey: fault.description])
    }

    /// A redirect without a usable `Location`, the content of which URLSession does not show.
    init(losingContentOf status: HTTP.StatusCode) {
        let text = "A response of status \(status) redirects to nowhere, and URLSession does not show its content."
        self.init(.redirectToNonExistentLocation, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// A task's error as the engine is told it: without the parts of the URL that may be secret.
    ///
    /// - Parameters:
    ///   - error: The task's error.
    ///   - mayHaveArrived: Whether a head has come, or content was sent. Then the request may have reached the server, whatever is
    ///     said of a connection, which was another.
    /// - Returns: The failure.
    static func failure(_ error: any Error, mayHaveArrived: Bool = false) -> HTTPTransferFailure<URLError> {
        guard let error = error as? URLError else {
            return .transport(URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "\(error)"]))
        }
        // The scheme is http or https: what is not supported is an answer that is not HTTP.
        if error.code == .unsupportedURL { return .badResponse }
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: error.libcurlDescription]
        if let url = error.failingURL?.redactedDescription.prefix(while: { $0 != "?" }) {
            userInfo[NSURLErrorFailingURLErrorKey] = URL(string: String(url))
        }
        let told = URLError(error.code, userInfo: userInfo)
        let isUnsent = told.kind == .dns || told.kind == .connect || told.kind == .proxy
        return .transport(mayHaveArrived && isUnsent ? URLError(.networkConnectionLost, userInfo: userInfo) : told)
    }

    /// libcurl's own words, if there are any.
    var libcurlDescription: String {
        let underlying = userInfo[NSUnderlyingErrorKey] as? NSError
        return underlying?.userInfo[NSLocalizedDescriptionKey] as? String ?? localizedDescription
    }

    /// The description without the name of the host, which may read like anything: `callback.example.com`.
    private var anonymousDescription: String {
        guard let host = failingURL?.host else { return localizedDescription }
        return ["to \(host) port", "to \(host):", "'\(host)'"].reduce(localizedDescription) { text, mention in
            text.replacingOccurrences(of: mention, with: "", options: .caseInsensitive)
        }
    }

    /// What libcurl's words mean (7.88; the first match counts).
    private static func kind(of text: String) -> HTTP.FailureKind {
        for (kind, phrases) in words where phrases.contains(where: text.contains) { return kind }
        return .other
    }

    private static let words: [(HTTP.FailureKind, [String])] = [
        (.empty, ["Empty reply", "Server returned nothing"]),
        (
            .truncated,
            [
                "transfer closed with", "end of response with", "unexpected eof while reading",
                "was not closed cleanly before end",
            ]
        ),
        (.decoding, ["content unencoding", "Unrecognized or bad HTTP Content", "content encoding"]),
        (.receive, ["Recv failure", "SSL_read", "Failure when receiving data", "HTTP/2", "recv"]),
        (
            .send,
            [
                "Send failure", "SSL_write", "Failed sending data", "aborted by an application callback", "callback",
                "rewind",
            ]
        ),
        (.proxy, ["proxy", "CONNECT tunnel"]),
        (
            .connect,
            [
                "Failed to connect", "Couldn't connect", "Could not connect", "Connection refused", "No route to host",
                "Connection timed out",
            ]
        ),
        (.dns, ["Could not resolve", "Couldn't resolve"]),
        (.tls, ["SSL", "TLS", "certificate", "ssl"]),
        (
            .malformed,
            [
                "Failed writing", "chunk", "Chunk", "hexadecimal", "Header", "header", "Content-Length",
                "Weird server reply", "Malformed", "Out of memory", "Transfer-Encoding",
            ]
        ),
    ]
}
