internal import CCurl
internal import NetworkStack

/// What a hop means to libcurl, worked out beforehand and without it.
///
/// A handle keeps what it was told, so every plan says everything that can differ between two transfers; the handle is told
/// only what does. It never changes, and is kept without being copied.
final class TransferPlan {
    /// How libcurl is to treat the request's content.
    enum Content: Equatable {
        /// There is none, and none is announced.
        case none
        /// There is none in the response either (`CURLOPT_NOBODY`).
        case noneEitherWay
        /// It is sent, with its length or, if that is not known, in chunks.
        case sent(length: Int64?)

        var isSent: Bool { if case .sent = self { true } else { false } }
    }

    let url: String
    /// The request's target, where libcurl's own is not what was asked for (`CURLOPT_REQUEST_TARGET`).
    let target: String?
    let method: String?
    let content: Content
    /// The header lines, or `nil` for those of every request that has none of its own (``standardLines(userAgent:acceptsAnything:contentCodings:)``).
    let headerLines: TextList?
    let version: Int
    let waitsForMultiplexing: Bool
    let needsFreshConnection: Bool
    /// Whether nothing else may be sent on the connection: the request says so (RFC 9112 section 9.6), and libcurl does not read it.
    let closesConnection: Bool
    let connectTimeout: Int
    /// Whether content may be read in large pieces, and is from a host of which no more is known.
    private let mayReadLargePieces, streams: Bool
    /// How long content waits for 100 Continue, in milliseconds, if it is to be asked for.
    let expectWait: Int
    /// The proxy on the way, if there is one.
    let route: ProxyRoute?
    /// Whether a TLS session may be resumed. A resumed one shows no certificates, so where they are wanted it may not.
    let resumesTLS: Bool
    /// The keys of which the server's own certificate must have one, in libcurl's words.
    let leafPins: String?
    /// Who asks, if the server wants Digest authentication.
    let digestCredentials: HTTP.Credentials?
    /// Whether content waits for the server to say so.
    let waitsForChallenge: Bool
    /// Whether fields follow the content.
    let hasTrailers: Bool

    /// Works out what a hop means; `joinsHTTP2` tells that a connection is counted on that speaks HTTP/2 already, and
    /// `mayShareConnection` that the host is not known to speak HTTP/1.1.
    init(
        _ hop: HTTPHop,
        userAgent: String?,
        acceptsAnything: Bool = true,
        contentCodings: String,
        joinsHTTP2: Bool = false,
        mayShareConnection: Bool = true,
        mayNegotiateHTTP2: Bool = true,
        asksFirst: Bool = false,
        waitsForChallenge: Bool = false,
        route: ProxyRoute? = nil,
        resumesTLS: Bool = true,
        usesConnectionOnce: Bool = false,
        quirks: LibcurlQuirks = .running
    ) {
        self.route = route
        self.waitsForChallenge = waitsForChallenge
        hasTrailers = hop.hasTrailers
        expectWait = hop.options.expectContinue.map(Self.milliseconds) ?? Self.usualExpectWait
        (mayReadLargePieces, streams) = (hop.mayReadLargePieces, !hop.allowsWithholding)
        url = hop.urlText
        content = Self.content(of: hop)
        method = hop.request.method == .GET && content == .none ? nil : hop.request.method.rawValue
        let isStandard = hop.request.headers.isEmpty && hop.options.decompresses && !content.isSent
        headerLines =
            isStandard
            ? nil
            : Self.headerLines(
                of: hop.request.headers,
                trailers: hop.request.body.trailers?.names ?? [],
                content: content,
                asksFirst: asksFirst,
                userAgent: userAgent,
                acceptsAnything: acceptsAnything,
                contentCodings: hop.options.decompresses ? contentCodings : nil
            )
        version =
            switch hop.version {
            // In the clear it is 1.1. Told that it may be more, libcurl 7.88 believes a status line that says HTTP/2, and sends
            // a second request into the middle of an answer.
            case .automatic:
                mayNegotiateHTTP2 && hop.mayNegotiateHTTP2 ? shim_http_version_automatic : shim_http_version_1_1
            case .http1_1: shim_http_version_1_1
            case .http2PriorKnowledge:
                joinsHTTP2 && quirks.contains(.restartedPriorKnowledge)
                    ? shim_http_version_automatic : shim_http_version_2_prior_knowledge
            }
        // The first of many waits for the connection, the rest wait to share it.
        waitsForMultiplexing = mayShareConnection && (joinsHTTP2 || hop.version == .automatic && hop.mayNegotiateHTTP2)
        // What begins HTTP/2 by prior knowledge must have a connection of its own for it. Where connections are shared once they
        // have answered, libcurl finds those by itself.
        needsFreshConnection =
            hop.options.version == .http2PriorKnowledge && !joinsHTTP2 && !hop.sharesOnceAnswered(quirks)
        switch hop.trust {
        case .ordinary: self.resumesTLS = resumesTLS && !hop.options.collectsServerPins
        case .pinned: self.resumesTLS = false
        }
        let policy = hop.trust.enforced?.policy
        leafPins = policy?.scope == .leaf ? policy?.pinList : nil
        digestCredentials = Self.digestCredentials(of: hop)
        // libcurl signs its own target where it answers a challenge, so that is what it sends then.
        target = digestCredentials == nil ? Self.target(of: url, isForwarded: route.map { !$0.isTunnel } ?? false) : nil
        closesConnection =
            usesConnectionOnce
            || hop.request.headers.contains { $0.name == .connection && $0.value.lowercased() == "close" }
        connectTimeout = hop.options.timeouts.connect.map(Self.milliseconds) ?? hop.options.timeouts.connectBound
    }

    /// The target of a URL that libcurl may write otherwise: newer versions write escapes in capital letters, and
    /// take a dot's for the dot; some leave an empty query out. Signatures, and servers that compare letters, are about what was asked for.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - isForwarded: Whether a proxy is asked for it, which is told the whole URL (RFC 9112 section 3.2.2).
    /// - Returns: The target, or `nil` if libcurl's own is the same.
    static func target(of url: String, isForwarded: Bool) -> String? {
        guard mayChange(url) else { return nil }
        let bytes = Array(url.utf8.prefix { $0 != UInt8(ascii: "#") })
        let changes =
            bytes.last == UInt8(ascii: "?")
            || bytes.indices.contains { place in
                guard bytes[place] == UInt8(ascii: "%") else { return false }
                let digits = bytes[place...].dropFirst().prefix(2)
                return digits.contains { $0 >= UInt8(ascii: "a") } || digits.elementsEqual("2E".utf8)
            }
        guard changes, let scheme = bytes.firstRange(of: Array("://".utf8)) else { return nil }
        let rest = bytes[scheme.upperBound...]
        guard let place = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }) else {
            return nil
        }
        let root = rest[place] == UInt8(ascii: "/") ? "" : "/"
        let origin = isForwarded ? String(decoding: bytes[..<place], as: UTF8.self) : ""
        return origin + root + String(decoding: bytes[place...], as: UTF8.self)
    }

    /// Whether there is anything in a URL that libcurl might write otherwise. In most there is not, and every request asks.
    private static func mayChange(_ url: String) -> Bool {
        let bytes = url.utf8
        return bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "#") } || bytes.last == UInt8(ascii: "?")
    }

    /// Who asks at the hop's server, if it may want to know and the request does not say so itself. TRACE would have it sent back.
    static func digestCredentials(of hop: HTTPHop) -> HTTP.Credentials? {
        guard !hop.options.digestCredentials.isEmpty, hop.request.method != .TRACE,
            !hop.request.headers.contains(.authorization)
        else { return nil }
        return hop.options.digestCredentials[hop.origin]
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

    /// Content that comes whole in one turn costs two thirds of what it does in four, and a stream's reader is woken for every
    /// piece. Others are spared the memory.
    ///
    /// - Parameter sendsMuch: Whether the host has sent more content at once than the usual buffer holds.
    /// - Returns: How much libcurl is to read at once, in bytes (`CURLOPT_BUFFERSIZE`).
    func bufferSize(sendsMuch: Bool) -> Int {
        mayReadLargePieces && (streams || sendsMuch) ? Self.largeBuffer : BufferedHTTP2Input.bufferSize
    }

    static let largeBuffer = 128 * 1024

    /// How long libcurl waits for 100 Continue if it is not told otherwise.
    static let usualExpectWait = 1000

    /// Rounded up: a timeout never fires early.
    static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.parts
        guard seconds < 1 << 31 else { return 1 << 31 }
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
