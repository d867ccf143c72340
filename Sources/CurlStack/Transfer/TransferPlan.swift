internal import CCurl
internal import NetworkStack

/// What a hop means to libcurl, worked out beforehand and without it.
///
/// A handle keeps what it was told, so every plan says everything that can differ between two transfers.
struct TransferPlan {
    /// How libcurl is to treat the request's content.
    enum Content: Equatable {
        /// There is none, and none is announced.
        case none
        /// There is none in the response either (`CURLOPT_NOBODY`).
        case noneEitherWay
        /// It is sent, with its length or, if that is not known, in chunks.
        case sent(length: Int64?)
    }

    let url: String
    let method: String?
    let content: Content
    let headerLines: [String]
    let version: Int
    let waitsForMultiplexing: Bool
    let needsFreshConnection: Bool
    let connectTimeout: Int

    /// Works out what a hop means; `joinsHTTP2` tells that a connection is counted on that speaks HTTP/2 already.
    init(_ hop: HTTPHop, userAgent: String?, contentCodings: String, joinsHTTP2: Bool = false) {
        let request = hop.request
        url = hop.urlText
        content = Self.content(of: hop)
        method = request.method == .GET && content == .none ? nil : request.method.rawValue
        headerLines = Self.headerLines(
            of: request,
            content: content,
            userAgent: userAgent,
            contentCodings: hop.options.decompresses ? contentCodings : nil
        )
        version =
            switch hop.options.version {
            case .automatic: shim_http_version_automatic
            case .http1_1: shim_http_version_1_1
            case .http2PriorKnowledge: joinsHTTP2 ? shim_http_version_automatic : shim_http_version_2_prior_knowledge
            }
        // The first of many waits for the connection, the rest wait to share it.
        waitsForMultiplexing = joinsHTTP2 || hop.options.version == .automatic && hop.origin.scheme == .https
        // What begins HTTP/2 by prior knowledge must have a connection of its own for it.
        needsFreshConnection = hop.options.version == .http2PriorKnowledge && !joinsHTTP2
        connectTimeout = hop.options.timeouts.connect.map(Self.milliseconds) ?? 86_400_000
    }

    /// Content is announced, even when there is none, for the methods whose servers expect it (RFC 9110 section 8.6).
    private static func content(of hop: HTTPHop) -> Content {
        switch hop.request.body {
        case .bytes(let data): return .sent(length: Int64(data.count))
        case .file, .stream: return .sent(length: hop.source?.length)
        case .none:
            switch hop.request.method {
            case .HEAD: return .noneEitherWay
            case .POST, .PUT, .PATCH: return .sent(length: 0)
            default: return .none
            }
        }
    }

    private static func headerLines(
        of request: HTTP.Request,
        content: Content,
        userAgent: String?,
        contentCodings: String?
    ) -> [String] {
        var lines: [String] = []
        var (hasUserAgent, hasExpect, hasAcceptEncoding) = (false, false, false)
        for field in request.headers {
            if field.name == .contentLength { continue }
            if field.name == .userAgent { hasUserAgent = true }
            if field.name == .expect { hasExpect = true }
            if field.name == .acceptEncoding { hasAcceptEncoding = true }
            lines.append(field.value.isEmpty ? "\(field.name.rawValue);" : "\(field.name.rawValue): \(field.value)")
        }
        if !hasUserAgent, let userAgent { lines.append("User-Agent: \(userAgent)") }
        if !hasAcceptEncoding, let contentCodings { lines.append("Accept-Encoding: \(contentCodings)") }
        // libcurl would wait a second for a 100 that most servers never send.
        if !hasExpect, case .sent = content { lines.append("Expect:") }
        return lines
    }

    /// Rounded up: a timeout never fires early.
    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        guard seconds < 1 << 31 else { return 1 << 31 }
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int(seconds) * 1000 + Int(rest)
    }
}

extension EasyHandle {
    /// Tells the handle everything a plan says.
    ///
    /// - Returns: The first code that is not `CURLE_OK`, if any option was refused.
    func apply(_ plan: TransferPlan) -> CURLcode {
        var lines = HeaderList()
        for line in plan.headerLines where !lines.append(line) { return CURLE_OUT_OF_MEMORY }
        var codes = [
            set(CURLOPT_URL, plan.url),
            set(CURLOPT_HTTP_VERSION, plan.version),
            set(CURLOPT_FORBID_REUSE, 0),
            set(CURLOPT_FRESH_CONNECT, plan.needsFreshConnection ? 1 : 0),
            set(CURLOPT_PIPEWAIT, plan.waitsForMultiplexing ? 1 : 0),
            set(CURLOPT_CONNECTTIMEOUT_MS, plan.connectTimeout),
            // The order counts: turning one of these off makes the request a GET.
            set(CURLOPT_NOBODY, 0),
            set(CURLOPT_UPLOAD, 0),
            set(CURLOPT_HTTPGET, 1),
        ]
        switch plan.content {
        case .none: break
        case .noneEitherWay: codes.append(set(CURLOPT_NOBODY, 1))
        case .sent(let length):
            codes.append(set(CURLOPT_UPLOAD, 1))
            codes.append(set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1))
        }
        codes.append(set(CURLOPT_CUSTOMREQUEST, plan.method))
        codes.append(set(headers: lines))
        return codes.first { $0 != CURLE_OK } ?? CURLE_OK
    }
}
