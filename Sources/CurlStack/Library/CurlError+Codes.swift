extension CurlError.Code {
    /// 1: the URL's scheme, or the protocol of the answer, is not supported.
    public static let unsupportedProtocol = Self(rawValue: 1)
    /// 3: the URL is malformed.
    public static let urlMalformed = Self(rawValue: 3)
    /// 4: libcurl was built without a requested feature.
    public static let notBuiltIn = Self(rawValue: 4)
    /// 5: the proxy's name could not be resolved.
    public static let couldNotResolveProxy = Self(rawValue: 5)
    /// 6: the host's name could not be resolved.
    public static let couldNotResolveHost = Self(rawValue: 6)
    /// 7: the connection could not be opened.
    public static let couldNotConnect = Self(rawValue: 7)
    /// 8: the answer is no HTTP response.
    public static let weirdServerReply = Self(rawValue: 8)
    /// 16: the HTTP/2 connection failed.
    public static let http2 = Self(rawValue: 16)
    /// 18: the response ended before it was complete.
    public static let partialFile = Self(rawValue: 18)
    /// 23: the received bytes could not be processed.
    public static let writeError = Self(rawValue: 23)
    /// 25: the server refused the upload.
    public static let uploadFailed = Self(rawValue: 25)
    /// 26: the request's body could not be read.
    public static let readError = Self(rawValue: 26)
    /// 27: no memory was left.
    public static let outOfMemory = Self(rawValue: 27)
    /// 28: a timeout was exceeded.
    public static let operationTimedOut = Self(rawValue: 28)
    /// 35: TLS could not be negotiated.
    public static let sslConnectError = Self(rawValue: 35)
    /// 42: a callback stopped the transfer.
    public static let abortedByCallback = Self(rawValue: 42)
    /// 43: a function was called with an invalid argument.
    public static let badFunctionArgument = Self(rawValue: 43)
    /// 52: the connection ended without a response.
    public static let gotNothing = Self(rawValue: 52)
    /// 55: the request could not be sent.
    public static let sendError = Self(rawValue: 55)
    /// 56: the response could not be received.
    public static let receiveError = Self(rawValue: 56)
    /// 58: the client's certificate cannot be used.
    public static let sslCertificateProblem = Self(rawValue: 58)
    /// 59: the requested ciphers cannot be used.
    public static let sslCipher = Self(rawValue: 59)
    /// 60: the server's certificate is not trusted, or is for another host.
    public static let peerFailedVerification = Self(rawValue: 60)
    /// 61: the content coding is not known, or the body is corrupt.
    public static let badContentEncoding = Self(rawValue: 61)
    /// 63: the response is larger than allowed.
    public static let tooLargeFile = Self(rawValue: 63)
    /// 64: TLS could not be used.
    public static let useSSLFailed = Self(rawValue: 64)
    /// 65: the body had to be sent again and could not.
    public static let sendFailRewind = Self(rawValue: 65)
    /// 77: the certificate authorities could not be read.
    public static let sslCACertificateBadFile = Self(rawValue: 77)
    /// 83: the issuer check failed.
    public static let sslIssuerError = Self(rawValue: 83)
    /// 90: the server's public key is not the pinned one.
    public static let sslPinnedPublicKeyMismatch = Self(rawValue: 90)
    /// 91: the certificate's status is invalid.
    public static let sslInvalidCertificateStatus = Self(rawValue: 91)
    /// 92: the HTTP/2 stream failed.
    public static let http2Stream = Self(rawValue: 92)
    /// 97: the proxy's handshake failed.
    public static let proxy = Self(rawValue: 97)
    /// 98: the server requires a client certificate.
    public static let sslClientCertificate = Self(rawValue: 98)
    /// 100: a part of the message, such as a line of the head, is larger than libcurl accepts (since libcurl 8.6).
    public static let tooLarge = Self(rawValue: 100)

    /// libcurl's names of the codes that an HTTP transfer can end with.
    static let names: [Int32: String] = [
        1: "CURLE_UNSUPPORTED_PROTOCOL", 2: "CURLE_FAILED_INIT", 3: "CURLE_URL_MALFORMAT", 4: "CURLE_NOT_BUILT_IN",
        5: "CURLE_COULDNT_RESOLVE_PROXY", 6: "CURLE_COULDNT_RESOLVE_HOST", 7: "CURLE_COULDNT_CONNECT",
        8: "CURLE_WEIRD_SERVER_REPLY", 16: "CURLE_HTTP2", 18: "CURLE_PARTIAL_FILE", 23: "CURLE_WRITE_ERROR",
        25: "CURLE_UPLOAD_FAILED", 26: "CURLE_READ_ERROR", 27: "CURLE_OUT_OF_MEMORY", 28: "CURLE_OPERATION_TIMEDOUT",
        35: "CURLE_SSL_CONNECT_ERROR", 42: "CURLE_ABORTED_BY_CALLBACK", 43: "CURLE_BAD_FUNCTION_ARGUMENT",
        45: "CURLE_INTERFACE_FAILED", 47: "CURLE_TOO_MANY_REDIRECTS", 48: "CURLE_UNKNOWN_OPTION",
        52: "CURLE_GOT_NOTHING",
        53: "CURLE_SSL_ENGINE_NOTFOUND", 54: "CURLE_SSL_ENGINE_SETFAILED", 55: "CURLE_SEND_ERROR",
        56: "CURLE_RECV_ERROR",
        58: "CURLE_SSL_CERTPROBLEM", 59: "CURLE_SSL_CIPHER", 60: "CURLE_PEER_FAILED_VERIFICATION",
        61: "CURLE_BAD_CONTENT_ENCODING", 63: "CURLE_FILESIZE_EXCEEDED", 64: "CURLE_USE_SSL_FAILED",
        65: "CURLE_SEND_FAIL_REWIND", 66: "CURLE_SSL_ENGINE_INITFAILED", 77: "CURLE_SSL_CACERT_BADFILE",
        80: "CURLE_SSL_SHUTDOWN_FAILED", 81: "CURLE_AGAIN", 82: "CURLE_SSL_CRL_BADFILE", 83: "CURLE_SSL_ISSUER_ERROR",
        88: "CURLE_CHUNK_FAILED", 89: "CURLE_NO_CONNECTION_AVAILABLE", 90: "CURLE_SSL_PINNEDPUBKEYNOTMATCH",
        91: "CURLE_SSL_INVALIDCERTSTATUS", 92: "CURLE_HTTP2_STREAM", 94: "CURLE_AUTH_ERROR", 95: "CURLE_HTTP3",
        96: "CURLE_QUIC_CONNECT_ERROR", 97: "CURLE_PROXY", 98: "CURLE_SSL_CLIENTCERT", 99: "CURLE_UNRECOVERABLE_POLL",
        100: "CURLE_TOO_LARGE", 101: "CURLE_ECH_REQUIRED",
    ]
}
