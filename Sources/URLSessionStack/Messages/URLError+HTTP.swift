public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Foundation's error as the error of a transfer.
extension URLError: HTTPTransportError {
    /// The kind of the failure.
    ///
    /// URLSession on Linux reports most failures as `.unknown` (-1), with libcurl's message in `localizedDescription`; the kind
    /// is then derived from that message. The same holds where one address of the host has refused: URLSession reports every
    /// later failure, on another address, too, as `.cannotConnectToHost`.
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

    /// Foundation's or libcurl's text, and the code.
    public var failureDescription: String { "\(localizedDescription) (NSURLErrorDomain \(code.rawValue))" }

    /// The phase in which the transfer failed, if that follows from the kind.
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

    /// Makes the error of a response that ended too early.
    init(_ code: Code, truncatedAt received: Int64, of length: Int64) {
        self.init(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: "The response ended after \(received) of \(length) bytes.",
                Self.truncationKey: received,
            ]
        )
    }

    /// Makes the error of a head that was refused.
    init(_ fault: HeadJudge.Fault) {
        self.init(.cannotParseResponse, userInfo: [NSLocalizedDescriptionKey: fault.description])
    }

    /// Makes the error of a redirect without a usable `Location`, whose body URLSession does not deliver.
    init(losingContentOf status: HTTP.StatusCode) {
        let text = "A response of status \(status) redirects to nowhere, and URLSession does not show its body."
        self.init(.redirectToNonExistentLocation, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// Converts a task's error for the engine, without the parts of the URL that may be secret.
    ///
    /// - Parameters:
    ///   - error: The task's error.
    ///   - mayHaveArrived: Whether a head was received or part of the body was sent. Then the request may have reached the
    ///     server, even if the error is about a connection, which may be another one.
    /// - Returns: The failure.
    static func failure(_ error: any Error, mayHaveArrived: Bool = false) -> HTTPTransferFailure<URLError> {
        guard let error = error as? URLError else {
            return .transport(URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "\(error)"]))
        }
        // The scheme is http or https, so what is unsupported is an answer that is not HTTP.
        if error.code == .unsupportedURL { return .badResponse }
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: error.libcurlDescription]
        if let url = error.failingURL?.redactedDescription.prefix(while: { $0 != "?" }) {
            userInfo[NSURLErrorFailingURLErrorKey] = URL(string: String(url))
        }
        let reported = URLError(error.code, userInfo: userInfo)
        let isUnsent = reported.kind == .dns || reported.kind == .connect || reported.kind == .proxy
        return .transport(mayHaveArrived && isUnsent ? URLError(.networkConnectionLost, userInfo: userInfo) : reported)
    }

    /// libcurl's message, if there is one.
    var libcurlDescription: String {
        let underlying = userInfo[NSUnderlyingErrorKey] as? NSError
        return underlying?.userInfo[NSLocalizedDescriptionKey] as? String ?? localizedDescription
    }

    /// The description without the host's name, which may contain any word: `callback.example.com`.
    private var anonymousDescription: String {
        guard let host = failingURL?.host else { return localizedDescription }
        return ["to \(host) port", "to \(host):", "'\(host)'"].reduce(localizedDescription) { text, mention in
            text.replacingOccurrences(of: mention, with: "", options: .caseInsensitive)
        }
    }

    /// The kind that libcurl's message means (7.88; the first match counts).
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
        // OpenSSL's text for a fatal alert, which under TLS 1.3 may come when the handshake is over.
        (.tls, [" alert "]),
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
