internal import CCurl
internal import NetworkStack

/// Options, each in libcurl's type.
extension EasyHandle {
    func set(_ option: CURLoption, _ value: Int) throws(RefusedOption) {
        try RefusedOption.check(unsafe shim_easy_set_long(pointer, option, value))
    }

    func set(_ option: CURLoption, offset value: Int64) throws(RefusedOption) {
        try RefusedOption.check(unsafe shim_easy_set_offset(pointer, option, curl_off_t(value)))
    }

    func set(_ option: CURLoption, _ value: String?) throws(RefusedOption) {
        guard let value else { return try RefusedOption.check(unsafe shim_easy_set_string(pointer, option, nil)) }
        try RefusedOption.check(unsafe value.withCString { text in unsafe shim_easy_set_string(pointer, option, text) })
    }

    /// Sets bytes that libcurl copies.
    func set(_ option: CURLoption, blob bytes: [UInt8]) throws(RefusedOption) {
        try RefusedOption.check(
            unsafe bytes.withUnsafeBytes { buffer in
                var blob = unsafe curl_blob(
                    data: UnsafeMutableRawPointer(mutating: buffer.baseAddress),
                    len: buffer.count,
                    flags: UInt32(CURL_BLOB_COPY)
                )
                return unsafe shim_easy_set_blob(pointer, option, &blob)
            }
        )
    }
}

extension EasyHandle {
    /// Asks for a URL. The text is what libcurl reports as the URL, and what it sends to a proxy.
    func set(url text: String) throws(RefusedOption) {
        guard let url = URLHandle(text) else { throw RefusedOption(code: CURLE_URL_MALFORMAT) }
        let code = unsafe url.ask(pointer)
        self.url = url
        try RefusedOption.check(code)
        try set(CURLOPT_URL, text)
    }
}

/// A URL in libcurl's form, taken apart once. A handle with a text takes it apart for each of its transfers, and
/// puts it together again, which is a seventh of what libcurl does for a small request.
@safe
final class URLHandle {
    private let pointer: OpaquePointer

    /// Takes a URL apart, or answers `nil` if libcurl cannot. Its path stays as it is: what may be removed from it was.
    init?(_ text: String) {
        guard let pointer = unsafe curl_url() else { return nil }
        unsafe self.pointer = pointer
        guard unsafe curl_url_set(pointer, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK else {
            return nil
        }
    }

    deinit { unsafe curl_url_cleanup(pointer) }

    /// Has an easy handle ask for the URL, which has to stay for as long.
    func ask(_ easy: UnsafeMutableRawPointer) -> CURLcode {
        unsafe shim_easy_set_pointer(easy, CURLOPT_CURLU, UnsafeMutableRawPointer(pointer))
    }
}

/// libcurl does not take an option.
struct RefusedOption: Error {
    let code: CURLcode

    /// Throws a code that is not `CURLE_OK`.
    static func check(_ code: CURLcode) throws(RefusedOption) {
        guard code == CURLE_OK else { throw RefusedOption(code: code) }
    }
}

extension EasyHandle {
    /// Sets the callbacks. Their context is this handle; for a connection's socket, which outlives it, the multi handle.
    func setCallbacks() throws(RefusedOption) {
        let codes = [
            unsafe shim_easy_set_header_function(pointer, Callbacks.header),
            unsafe shim_easy_set_write_function(pointer, Callbacks.write),
            unsafe shim_easy_set_read_function(pointer, Callbacks.read),
            unsafe shim_easy_set_seek_function(pointer, Callbacks.seek),
            unsafe shim_easy_set_prereq_function(pointer, Callbacks.prereq),
            unsafe shim_easy_set_resolver_start_function(pointer, Callbacks.resolverStart),
            unsafe shim_easy_set_socket_option_function(pointer, Callbacks.socketOption),
            unsafe shim_easy_set_tls_context_function(pointer, Callbacks.tlsContext),
            unsafe shim_easy_set_close_socket_function(pointer, Callbacks.closeSocket),
            unsafe shim_easy_set_debug_function(pointer, Callbacks.debug),
            unsafe shim_easy_set_progress_function(pointer, Callbacks.progress),
        ]
        for code in codes { try RefusedOption.check(code) }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        for option in Self.contextOptions { unsafe shim_easy_set_pointer(pointer, option, context) }
        let multi = unsafe Unmanaged.passUnretained(multi).toOpaque()
        unsafe shim_easy_set_pointer(pointer, CURLOPT_CLOSESOCKETDATA, multi)
    }

    private static let contextOptions = [
        CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA,
        CURLOPT_RESOLVER_START_DATA, CURLOPT_SOCKOPTDATA, CURLOPT_SSL_CTX_DATA, CURLOPT_PRIVATE,
        CURLOPT_DEBUGDATA, CURLOPT_XFERINFODATA,
    ]
}

extension EasyHandle {
    /// Sends what follows by this route. A handle that has it already is not changed.
    func take(_ route: ProxyRoute?) throws(RefusedOption) {
        if route == self.route { return }
        let proxy = route?.proxy
        let opensTunnel = route?.isTunnel ?? false && proxy?.scheme.isHTTP ?? false
        // Asks, while a tunnel is being opened, whether to go on.
        try set(CURLOPT_NOPROGRESS, opensTunnel ? 0 : 1)
        // The empty text keeps the environment's proxies out.
        try set(CURLOPT_PROXY, proxy?.urlWithCredentials ?? "")
        try set(CURLOPT_HTTPPROXYTUNNEL, opensTunnel ? 1 : 0)
        var lines = TextLines()
        for field in proxy?.headers ?? [:] { lines.append(field.name, field.value) }
        try keep(TextList(lines), as: CURLOPT_PROXYHEADER)
        self.route = route
    }
}

extension Network.Proxy {
    /// The proxy's URL. Without a scheme, libcurl would guess one from a name such as `ftp.example`. The credentials are in it: before
    /// 8.8, libcurl decodes `CURLOPT_PROXYUSERNAME` and `CURLOPT_PROXYPASSWORD`, too, and once more for each connection.
    fileprivate var urlWithCredentials: String {
        guard let credentials else { return description }
        let (user, password) = (Self.escaped(credentials.user), Self.escaped(credentials.password))
        return "\(scheme.rawValue)://\(user):\(password)@\(host):\(port)"
    }

    /// Whether a message of libcurl's may quote the URL, from its beginning.
    func mayBeRevealed(by message: String) -> Bool {
        credentials != nil && message.contains("\(scheme.rawValue)://")
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { "%" + String(UInt16($0) | 0x100, radix: 16).suffix(2) }.joined()
    }
}

extension EasyHandle {
    /// Sets the handle's authorities and client certificate, where they differ from libcurl's defaults.
    ///
    /// - Parameters:
    ///   - tls: What has been read (``Network/TLSConfiguration/read()``).
    ///   - authorities: Its authorities.
    /// - Throws: ``RefusedOption``.
    func set(_ tls: Network.TLSConfiguration, _ authorities: Authorities) throws(RefusedOption) {
        self.authorities = authorities
        let isVerified = tls.verification == .full
        namesHosts = isVerified && !tls.acceptsCommonNames
        // A proxy that is spoken to over TLS proves itself as an origin does. It is shown no certificate.
        try set(CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER, isVerified ? 1 : 0)
        try set(CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST, isVerified ? 2 : 0)
        try set(CURLOPT_SSLVERSION, CURLOPT_PROXY_SSLVERSION, tls.versionRange)
        if case .loadedByCurl = authorities {
        } else {
            // libcurl would load them for nothing, and a directory again for every handshake.
            for option in [CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH] {
                try set(option, nil)
            }
        }
        if let identity = tls.clientIdentity { try set(identity) }
    }

    /// libcurl has every option of TLS twice.
    private func set(_ origin: CURLoption, _ proxy: CURLoption, _ value: Int) throws(RefusedOption) {
        try set(origin, value)
        try set(proxy, value)
    }

    private func set(_ identity: Network.ClientIdentity) throws(RefusedOption) {
        switch identity.source {
        case .pem(let chain, let key):
            try set(CURLOPT_SSLCERTTYPE, "PEM")
            try set(CURLOPT_SSLCERT_BLOB, blob: Array(chain))
            try set(CURLOPT_SSLKEYTYPE, "PEM")
            try set(CURLOPT_SSLKEY_BLOB, blob: Array(key))
        case .pkcs12(let box):
            try set(CURLOPT_SSLCERTTYPE, "P12")
            try set(CURLOPT_SSLCERT_BLOB, blob: Array(box))
        case .pemFiles, .pkcs12File: throw RefusedOption(code: CURLE_SSL_CERTPROBLEM)
        }
        // As when it was read: without a text OpenSSL would ask for one, at the terminal, for a key that is encrypted with none.
        try set(CURLOPT_KEYPASSWD, identity.passphrase ?? "")
    }
}

extension Network.TLSConfiguration {
    /// The oldest and the newest version, as `CURLOPT_SSLVERSION` takes them.
    fileprivate var versionRange: Int {
        let oldest =
            switch minimumVersion {
            case .v1_2: shim_tls_1_2
            case .v1_3: shim_tls_1_3
            }
        let newest =
            switch maximumVersion {
            case .v1_2: shim_max_tls_1_2
            case .v1_3: shim_max_tls_1_3
            case nil: 0
            }
        return oldest | newest
    }
}

extension EasyHandle {
    /// Has libcurl ask for the fields that follow the body, or not. It forgets that by itself once it has asked.
    ///
    /// - Parameter wanted: Whether there are such fields.
    /// - Throws: ``RefusedOption``.
    func sendTrailers(_ wanted: Bool) throws(RefusedOption) {
        let context = unsafe wanted ? Unmanaged.passUnretained(self).toOpaque() : nil
        unsafe shim_easy_set_pointer(pointer, CURLOPT_TRAILERDATA, context)
        try RefusedOption.check(
            unsafe shim_easy_set_trailer_function(pointer, wanted ? Callbacks.trailers : nil)
        )
    }
}

extension EasyHandle {
    /// How many challenges are answered for one request.
    static let mostAnswers = 4

    /// Has libcurl answer Digest challenges (RFC 7616) of the server. The handle keeps the credentials, and what servers send
    /// about them, so it serves one transfer only.
    ///
    /// - Parameters:
    ///   - credentials: The credentials.
    ///   - waits: Whether the body waits for a challenge. libcurl then sends the request without it first, as
    ///     it does if only one authentication scheme is allowed; `CURLAUTH_ONLY` counts as another.
    /// - Throws: ``RefusedOption``.
    func answerChallenges(with credentials: HTTP.Credentials, waiting waits: Bool) throws(RefusedOption) {
        // The handle is used once, and a second head is no body.
        showHeadsFirst(false)
        try set(CURLOPT_HTTPAUTH, waits ? shim_auth_digest : shim_auth_digest | shim_auth_only)
        try set(CURLOPT_USERNAME, credentials.user)
        try set(CURLOPT_PASSWORD, credentials.password)
        // libcurl counts its answers as redirects; a server that only ever has a newer challenge would go on for ever.
        try set(CURLOPT_MAXREDIRS, Self.mostAnswers)
    }
}
