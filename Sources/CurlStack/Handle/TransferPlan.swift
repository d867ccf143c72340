internal import CCurl
internal import NetworkStack

/// The options of a transfer in libcurl's terms, worked out without calling it.
///
/// A handle keeps its options, so every plan has all that follows from the hop and may differ between two transfers; a handle sets only
/// what differs. What follows from the connection is in ``EasyHandle/Settings``. A plan never changes, and is kept without being copied.
final class TransferPlan {
    /// How libcurl is to treat the request's body.
    enum Body: Equatable {
        /// There is none, and none is announced.
        case none
        /// There is none in the response either (`CURLOPT_NOBODY`).
        case noneEitherWay
        /// It is sent, with its length or, if that is not known, in chunks.
        case sent(length: Int64?)

        var isSent: Bool { if case .sent = self { true } else { false } }
    }

    /// What is sent.
    struct Message {
        let url: String
        /// The request's target, where libcurl would write it differently (`CURLOPT_REQUEST_TARGET`).
        let target: String?
        let method: String?
        let body: Body
        /// The header lines, or `nil` for those of every request without fields
        /// (``headerLines(of:trailers:body:asksFirst:userAgent:sendsDefaultAccept:contentCodings:)``).
        let headerLines: TextList?
        /// How long the body waits for 100 Continue, in milliseconds, if the request asks for that.
        let expectWait: Int
        /// The credentials for Digest authentication.
        let digestCredentials: HTTP.Credentials?
        /// Whether the body waits for a challenge.
        let waitsForChallenge: Bool
        /// Whether fields follow the body.
        let hasTrailers: Bool
    }

    /// Which connection carries it, and how that is made.
    struct Route {
        let version: Int
        let waitsForMultiplexing: Bool
        let needsFreshConnection: Bool
        /// Whether the connection is closed after the request: the request has `Connection: close` (RFC 9112 section 9.6), which libcurl
        /// does not read, or connections are used once (``AddressPlan/usesConnectionsOnce``).
        let closesConnection: Bool
        let connectTimeout: Int
        /// The proxy on the way, if there is one.
        let proxy: ProxyRoute?
        /// Whether a TLS session may be resumed. A resumed one has no certificates to check or report.
        let resumesTLS: Bool
        /// The keys of which the server's own certificate must have one, in libcurl's form.
        let leafPins: String?
    }

    let message: Message
    let route: Route
    /// Whether a body may be read in large pieces.
    private let mayReadLargePieces: Bool
    /// Whether the body is delivered as it arrives.
    private let streams: Bool

    /// Works out the options of a hop.
    ///
    /// `joinsHTTP2` means that there should be a connection already that speaks HTTP/2, and `mayShareConnection` that the host is not
    /// known to speak HTTP/1.1.
    init(
        _ hop: HTTPHop,
        userAgent: String?,
        sendsDefaultAccept: Bool = true,
        contentCodings: String,
        joinsHTTP2: Bool = false,
        mayShareConnection: Bool = true,
        mayNegotiateHTTP2: Bool = true,
        asksFirst: Bool = false,
        waitsForChallenge: Bool = false,
        proxy: ProxyRoute? = nil,
        resumesTLS: Bool = true,
        usesConnectionOnce: Bool = false,
        quirks: LibcurlQuirks = .running
    ) {
        // Over HTTP/2 the usual size must stand (``BufferedHTTP2Input``).
        (mayReadLargePieces, streams) = (hop.versionPolicy == .http1_1, !hop.allowsWithholding)
        let body = Self.body(of: hop)
        let isStandard = hop.request.headers.isEmpty && hop.options.decompresses && !body.isSent
        let headerLines =
            isStandard
            ? nil
            : Self.headerLines(
                of: hop.request.headers,
                trailers: hop.request.body.trailers?.names ?? [],
                body: body,
                asksFirst: asksFirst,
                userAgent: userAgent,
                sendsDefaultAccept: sendsDefaultAccept,
                contentCodings: hop.options.decompresses ? contentCodings : nil
            )
        let credentials = Self.digestCredentials(of: hop)
        let isForwarded = proxy.map { !$0.isTunnel } ?? false
        message = Message(
            url: hop.urlText,
            // libcurl signs its own target where it answers a challenge, so that is what it sends then.
            target: credentials == nil ? Self.target(of: hop.urlText, isForwarded: isForwarded) : nil,
            method: hop.request.method == .GET && body == .none ? nil : hop.request.method.rawValue,
            body: body,
            headerLines: headerLines,
            expectWait: hop.options.expectContinue.map(Self.milliseconds) ?? Self.usualExpectWait,
            digestCredentials: credentials,
            waitsForChallenge: waitsForChallenge,
            hasTrailers: hop.hasTrailers
        )
        // A libcurl without HTTP/2 refuses to be asked.
        let hasHTTP2 = CurlLibrary.shared.hasHTTP2
        let version =
            switch hop.versionPolicy {
            case .automatic: mayNegotiateHTTP2 && hasHTTP2 ? shim_http_version_automatic : shim_http_version_1_1
            case .http1_1: shim_http_version_1_1
            case .http2PriorKnowledge:
                joinsHTTP2 && quirks.contains(.restartedPriorKnowledge)
                    ? shim_http_version_automatic : shim_http_version_2_prior_knowledge
            }
        let isPinned = if case .pinned = hop.trust { true } else { false }
        let policy = hop.trust.enforced?.policy
        let asksToClose = hop.request.headers.contains { $0.name == .connection && $0.value.lowercased() == "close" }
        route = Route(
            version: version,
            // The first of many waits for the connection, the rest wait to share it.
            waitsForMultiplexing: mayShareConnection
                && (joinsHTTP2 || hop.versionPolicy == .automatic && hasHTTP2),
            // What begins HTTP/2 by prior knowledge must have a new connection. Where connections are shared once
            // they have answered, libcurl finds those by itself.
            needsFreshConnection: hop.options.version == .http2PriorKnowledge && !joinsHTTP2
                && !hop.sharesOnceAnswered(quirks),
            closesConnection: usesConnectionOnce || asksToClose,
            connectTimeout: hop.options.timeouts.connect.map(Self.milliseconds) ?? hop.options.timeouts.connectBound,
            proxy: proxy,
            resumesTLS: resumesTLS && !isPinned && !hop.options.collectsServerPins,
            leafPins: policy?.scope == .leaf ? policy?.pinList : nil
        )
    }

    /// The target of a URL that libcurl may write otherwise: newer versions write escapes in capital letters, and
    /// take a dot's for the dot; some leave an empty query out. Signatures, and servers that compare letters, are about what was asked for.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - isForwarded: Whether it goes to a proxy, which gets the whole URL (RFC 9112 section 3.2.2).
    /// - Returns: The target, or `nil` if libcurl's own is the same.
    static func target(of url: String, isForwarded: Bool) -> String? {
        // In most URLs there is nothing that libcurl might write otherwise, and every request asks.
        guard
            url.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "#") })
                || url.utf8.last == UInt8(ascii: "?")
        else { return nil }
        let bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "#") })
        let changes =
            bytes.last == UInt8(ascii: "?")
            || bytes.indices.contains { place in
                guard bytes[place] == UInt8(ascii: "%") else { return false }
                let digits = bytes[place...].dropFirst().prefix(2)
                return digits.contains { $0 >= UInt8(ascii: "a") } || digits.elementsEqual("2E".utf8)
            }
        guard changes else { return nil }
        let (origin, target) = split(url)
        return isForwarded ? origin + target : target
    }

    /// The target of a request for a URL, in origin form (RFC 9112 section 3.2.1).
    static func originForm(of url: String) -> String { split(url).target }

    /// The scheme and authority of a URL, and its path and query.
    private static func split(_ url: String) -> (origin: String, target: String) {
        let bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "#") })
        let start = bytes.firstRange(of: Array("://".utf8))?.upperBound ?? 0
        let place =
            bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        let root = bytes[place...].first == UInt8(ascii: "/") ? "" : "/"
        return (
            String(decoding: bytes[..<place], as: UTF8.self), root + String(decoding: bytes[place...], as: UTF8.self)
        )
    }

    /// The Digest credentials for the hop's server, unless the request has `Authorization`. A response to TRACE would contain them.
    static func digestCredentials(of hop: HTTPHop) -> HTTP.Credentials? {
        guard !hop.options.digestCredentials.isEmpty, hop.request.method != .TRACE,
            !hop.request.headers.contains(.authorization)
        else { return nil }
        return hop.options.digestCredentials[hop.origin]
    }

    /// A body is announced, even when there is none, for the methods whose servers expect it (RFC 9110 section 8.6).
    private static func body(of hop: HTTPHop) -> Body {
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

    /// A body that comes whole in one turn costs two thirds of what it does in four, and a stream's reader is woken for every
    /// piece. Others are spared the memory.
    ///
    /// - Parameter sendsMuch: Whether the host has sent more than the usual buffer holds in one response.
    /// - Returns: How much libcurl is to read at once, in bytes (`CURLOPT_BUFFERSIZE`).
    func bufferSize(sendsMuch: Bool) -> Int {
        mayReadLargePieces && (streams || sendsMuch) ? Self.largeBuffer : BufferedHTTP2Input.bufferSize
    }

    static let largeBuffer = 128 * 1024

    /// How long libcurl waits for 100 Continue by default.
    static let usualExpectWait = 1000

    /// Rounded up, so that a timeout never fires early, and 68 years at most.
    static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.parts
        guard seconds < 1 << 31 else { return 1000 << 31 }
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int(seconds) * 1000 + Int(rest)
    }
}

extension HTTP.Options.Timeouts {
    /// How long connecting may take without a connect timeout: libcurl gives half of that to an address that does not
    /// answer, and then tries the next. That is less than the idle timeout, so that there is a next; and all of it is more, as
    /// each step of connecting is progress. The engine's clocks come first. In milliseconds.
    var connectBound: Int {
        let patience = TransferPlan.milliseconds(min(idle, .seconds(86_400))) * 3 / 2
        let others = [attempt, total].compactMap { $0.map(TransferPlan.milliseconds) }
        return others.reduce(patience, min) + 500
    }
}

extension HTTPHop {
    /// The policy of the options, where the automatic choice is left only under TLS. In the clear it is HTTP/1.1: if it may be more,
    /// libcurl 7.88 believes a status line with HTTP/2, and sends a second request into the middle of an answer. With trailers it is
    /// HTTP/1.1, too, because libcurl sends them in no other way.
    var versionPolicy: HTTP.Options.VersionPolicy {
        options.version == .automatic && (!isSecure || hasTrailers) ? .http1_1 : options.version
    }

    /// Whether others may join its connection only once that has answered (``LibcurlQuirks/lateHTTP2Sharing``).
    func sharesOnceAnswered(_ quirks: LibcurlQuirks) -> Bool {
        versionPolicy == .http2PriorKnowledge && !isSecure && quirks.contains(.lateHTTP2Sharing)
    }
}

extension HTTP.Headers.Field {
    /// Whether the field is `Expect: 100-continue`.
    var asksForContinue: Bool { name == .expect && value.lowercased() == "100-continue" }
}

extension TransferPlan {
    /// The header lines of a request: by default, of one without a body and without fields.
    static func headerLines(
        of headers: HTTP.Headers = [:],
        trailers: [HTTP.HeaderName] = [],
        body: Body = .none,
        asksFirst: Bool = false,
        userAgent: String?,
        sendsDefaultAccept: Bool,
        contentCodings: String?
    ) -> TextList {
        let fields = headers.fields
        // Room for the usual fields, and for the few of the stack's own.
        var lines = TextLines(capacity: 64 * (fields.count + 3), count: fields.count + 4)
        var (hasUserAgent, hasAcceptEncoding) = (false, false)
        for field in fields {
            if field.name == .contentLength { continue }
            if field.name == .userAgent { hasUserAgent = true }
            if field.name == .expect, field.asksForContinue { continue }
            if field.name == .acceptEncoding { hasAcceptEncoding = true }
            // TE is for the next hop only (RFC 9110 section 10.1.4).
            let steersTE = field.name == .connection && headers.contains(.te) && field.value.lowercased() != "te"
            lines.append(field.name, steersTE ? "\(field.value), TE" : field.value)
        }
        if headers.contains(.te), !headers.contains(.connection) { lines.append("Connection: TE") }
        if !hasUserAgent, let userAgent { lines.append(.userAgent, userAgent) }
        // A name and a colon keep libcurl from adding its own field.
        if !sendsDefaultAccept, !headers.contains(.accept) { lines.append("Accept:") }
        // With `Range` no coding is accepted: a range selects bytes of the encoded body, which could not be decoded (RFC 9110
        // section 14).
        if !hasAcceptEncoding, let codings = contentCodings.map({ headers.contains(.range) ? "identity" : $0 }) {
            lines.append(.acceptEncoding, codings)
        }
        if !trailers.isEmpty, !headers.contains(.trailer) {
            lines.append(.trailer, trailers.map(\.rawValue).joined(separator: ", "))
        }
        // Otherwise libcurl asks for a 100 that most servers never send, and waits for it.
        if body.isSent { lines.append(asksFirst ? "Expect: 100-continue" : "Expect:") }
        return TextList(lines)
    }
}
