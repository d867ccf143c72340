public import NetworkStack

/// What libcurl failed with.
public struct CurlError: HTTPTransportError, Hashable {
    /// A libcurl result code. The set is open: a newer libcurl's codes are kept as they are.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The `CURLcode`.
        public let rawValue: Int32

        /// Names a code.
        ///
        /// - Parameter rawValue: The `CURLcode`.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// libcurl's name, such as `CURLE_COULDNT_CONNECT`, or the number of a code this library does not know.
        public var description: String { Self.names[rawValue] ?? "CURLcode \(rawValue)" }
    }

    /// libcurl's code.
    public let code: Code
    /// What happened, in libcurl's words or, where this library found the failure, in its own.
    public let message: String
    /// Where in its life the transfer was.
    public let phase: HTTP.Phase?
    /// The system's error number of the last connection attempt, if there was one (`CURLINFO_OS_ERRNO`).
    public let systemError: Int32?
    /// The server's address, if a connection was tried (`CURLINFO_PRIMARY_IP`).
    public let remoteAddress: String?
    /// OpenSSL's verdict on the certificates of the server, or of the proxy if ``isProxyFailure``, an `X509_V_ERR_…` number,
    /// where TLS failed; 0 means that they are good and something else is not, such as the host's name
    /// (`CURLINFO_SSL_VERIFYRESULT`, `CURLINFO_PROXY_SSL_VERIFYRESULT`).
    public let verifyResult: Int?
    /// The status a proxy answered `CONNECT` with, if it refused the tunnel (`CURLINFO_HTTP_CONNECTCODE`).
    public let proxyStatus: HTTP.StatusCode?
    /// What a SOCKS proxy failed with, a `CURLPX_…` number, or 0 (`CURLINFO_PROXY_ERROR`).
    public let proxyReply: Int?
    /// Whether the failure was the proxy's, or on the way to it: the origin was never spoken to.
    public let isProxyFailure: Bool

    /// Describes a failure.
    public init(
        code: Code,
        message: String,
        phase: HTTP.Phase? = nil,
        systemError: Int32? = nil,
        remoteAddress: String? = nil,
        verifyResult: Int? = nil,
        proxyStatus: HTTP.StatusCode? = nil,
        proxyReply: Int? = nil,
        isProxyFailure: Bool = false
    ) {
        self.code = code
        self.message = message
        self.phase = phase
        self.systemError = systemError
        self.remoteAddress = remoteAddress
        self.verifyResult = verifyResult
        self.proxyStatus = proxyStatus
        self.proxyReply = proxyReply
        self.isProxyFailure = isProxyFailure
    }

    /// The same failure with a further sentence.
    func adding(_ reason: String) -> CurlError {
        CurlError(
            code: code,
            message: "\(message) \(reason)",
            phase: phase,
            systemError: systemError,
            remoteAddress: remoteAddress,
            verifyResult: verifyResult,
            proxyStatus: proxyStatus,
            proxyReply: proxyReply,
            isProxyFailure: isProxyFailure
        )
    }

    /// What is wrong with a server's certificate.
    public enum CertificateFault: Hashable, Sendable {
        /// The chain ends in no authority that is trusted.
        case untrusted
        /// A certificate of the chain has expired.
        case expired
        /// A certificate of the chain is not valid yet.
        case notYetValid
        /// The certificate is for another host.
        case wrongHost
        /// Anything else, by OpenSSL's number.
        case other(Int)
    }

    /// What is wrong with the server's certificate, if that is what failed.
    public var certificateFault: CertificateFault? {
        guard code == .peerFailedVerification, let verifyResult else { return nil }
        return switch verifyResult {
        // 1 is where libcurl starts from: the chain was good, and then no name of the certificate was the host's.
        case 0, 1, 62: .wrongHost
        case 2, 18, 19, 20, 21, 27: .untrusted
        case 9: .notYetValid
        case 10: .expired
        default: .other(verifyResult)
        }
    }

    /// What went wrong, in neutral words.
    public var kind: HTTP.FailureKind {
        let kind: HTTP.FailureKind =
            switch code {
            case .couldNotResolveHost: .dns
            case .couldNotResolveProxy, .proxy: .proxy
            case .couldNotConnect: .connect
            case .peerFailedVerification, .sslConnectError, .sslCipher, .sslCertificateProblem,
                .sslCACertificateBadFile, .sslPinnedPublicKeyMismatch, .sslIssuerError,
                .sslInvalidCertificateStatus, .useSSLFailed, .sslClientCertificate:
                .tls
            case .sendError, .sendFailRewind, .uploadFailed: .send
            case .receiveError: .receive
            case .partialFile: .truncated
            case .gotNothing: .empty
            // libcurl from 8 on refuses codings of the transfer with the code of those of the content.
            case .badContentEncoding: message.contains("Transfer-Encoding") ? .malformed : .decoding
            case .weirdServerReply, .unsupportedProtocol, .http2, .http2Stream, .tooLargeFile: .malformed
            default: .other
            }
        // Trust that fails once fails again, be it the proxy's.
        return isProxyFailure && kind != .tls ? .proxy : kind
    }
}

extension CurlError: CustomStringConvertible {
    /// The code's name, the message, and where it happened.
    public var description: String {
        var text = "\(code): \(message)"
        if let phase { text += " (while \(phase.rawValue)" + (remoteAddress.map { ", \($0))" } ?? ")") }
        return text
    }
}
