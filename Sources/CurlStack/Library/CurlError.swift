internal import CCurl
internal import FoundationEssentials
public import NetworkStack

/// An error of libcurl.
public struct CurlError: HTTPTransportError, Hashable {
    /// A libcurl result code. Codes of newer versions of libcurl are kept.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The `CURLcode`.
        public let rawValue: Int32

        /// Makes a code.
        ///
        /// - Parameter rawValue: The `CURLcode`.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        init(_ code: CURLcode) { self.init(rawValue: Int32(bitPattern: code.rawValue)) }

        /// libcurl's name, such as `CURLE_COULDNT_CONNECT`, or the number of an unknown code.
        public var description: String { Self.names[rawValue] ?? "CURLcode \(rawValue)" }
    }

    /// libcurl's code.
    public let code: Code
    /// libcurl's message, or this library's if it detected the failure.
    public internal(set) var message: String
    /// The phase in which the transfer failed.
    public let phase: HTTP.Phase?
    /// The system's error number of the last connection attempt, if there was one (`CURLINFO_OS_ERRNO`).
    public let systemError: Int32?
    /// The server's IP address, if a connection was tried (`CURLINFO_PRIMARY_IP`).
    public let remoteAddress: String?
    /// OpenSSL's result (`X509_V_ERR_…`) for the certificates of the server, or of the proxy if ``isProxyFailure``, if TLS
    /// failed. 0 means that they are valid and something else is not, such as the host's name (`CURLINFO_SSL_VERIFYRESULT`,
    /// `CURLINFO_PROXY_SSL_VERIFYRESULT`).
    public let verifyResult: Int?
    /// The status with which a proxy refused `CONNECT` (`CURLINFO_HTTP_CONNECTCODE`).
    public let proxyStatus: HTTP.StatusCode?
    /// The error of a SOCKS proxy (`CURLPX_…`), or 0 (`CURLINFO_PROXY_ERROR`).
    public let proxyReply: Int?
    /// Whether the proxy failed or could not be reached, so that the origin was never contacted.
    public let isProxyFailure: Bool

    /// Makes an error.
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

    /// Returns the error with another sentence in its message.
    func adding(_ reason: String) -> CurlError {
        var error = self
        error.message += " \(reason)"
        return error
    }

    /// The fault of a server's certificate.
    public enum CertificateFault: Hashable, Sendable {
        /// The chain does not end in a trusted authority.
        case untrusted
        /// A certificate of the chain has expired.
        case expired
        /// A certificate of the chain is not valid yet.
        case notYetValid
        /// The certificate is for another host.
        case wrongHost
        /// Another fault, with OpenSSL's number.
        case other(Int)
    }

    /// The fault of the server's certificate, if that was the failure.
    public var certificateFault: CertificateFault? {
        guard code == .peerFailedVerification, let verifyResult else { return nil }
        return switch verifyResult {
        // 1 is libcurl's initial value: the chain was valid, but the certificate does not name the host.
        case 0, 1, 62: .wrongHost
        case 2, 18, 19, 20, 21, 27: .untrusted
        case 9: .notYetValid
        case 10: .expired
        default: .other(verifyResult)
        }
    }

    /// The kind of the failure.
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
            // From 8 on, libcurl uses the code of content codings for transfer codings, too.
            case .badContentEncoding: message.contains("Transfer-Encoding") ? .malformed : .decoding
            case .weirdServerReply, .unsupportedProtocol, .http2, .http2Stream, .tooLargeFile: .malformed
            default: .other
            }
        // A failure of trust is not temporary, even that of a proxy.
        return isProxyFailure && kind != .tls ? .proxy : kind
    }
}

extension CurlError: DescribedError {
    /// The code's name, the message and the phase; for an unknown authority, what sets the trusted ones.
    public var description: String {
        var text = "\(code): \(message)"
        if certificateFault == .untrusted { text += " (tls.trustRoots sets the trusted authorities)" }
        if let phase { text += " (while \(phase.rawValue)" + (remoteAddress.map { ", \($0))" } ?? ")") }
        return text
    }
}
