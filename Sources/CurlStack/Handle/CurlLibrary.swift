internal import CCurl
internal import COpenSSL
internal import NetworkStack

/// The libcurl this process runs with: what it is, what it can do. The one place that knows version numbers.
public struct CurlLibrary: Sendable, CustomStringConvertible {
    /// libcurl's version, such as `7.88.1`.
    public let version: String
    /// libcurl's version as one number, such as `0x075801`.
    public let versionNumber: UInt32
    /// The TLS library, such as `OpenSSL/3.0.19`, or `nil` without TLS.
    public let tlsVersion: String?
    /// Whether it speaks HTTP/2.
    public let hasHTTP2: Bool
    /// The bundle of certificate authorities it was built to trust, if any.
    public let trustBundle: String?

    /// The oldest libcurl that has every option this stack sets (`CURLOPT_QUICK_EXIT`).
    static let oldest: UInt32 = 0x075700

    /// The content codings that can be undone, as they stand in `Accept-Encoding`.
    public var contentCodings: [String] { ContentCoding.available.map(\.rawValue) }

    /// The libcurl of this process, set up once. It is never torn down: Foundation shares it.
    ///
    /// Unless somebody else in the process has set libcurl up before, it allocates through functions of this package from then on
    /// (`curl_global_init_mem`), which keep what it frees on a stack's own thread for what it allocates there next. All they
    /// hand out is `malloc`'s, so code that calls libcurl itself need not know; who has memory functions of their own for it sets
    /// them before the first stack is made.
    public static let shared = CurlLibrary()

    private init() {
        // Without this, OpenSSL tears itself down while the loop's thread may still be using it at exit.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        FreeLists.setLibcurlUp()
        guard let info = unsafe curl_version_info(shim_version_now)?.pointee else {
            (version, versionNumber, tlsVersion, hasHTTP2, trustBundle) = ("unknown", 0, nil, false, nil)
            return
        }
        func text(_ pointer: UnsafePointer<CChar>?) -> String? { unsafe pointer.map { unsafe String(cString: $0) } }
        version = unsafe text(info.version) ?? "unknown"
        versionNumber = unsafe info.version_num
        tlsVersion = unsafe text(info.ssl_version)
        let features = unsafe info.features
        hasHTTP2 = features & CURL_VERSION_HTTP2 != 0
        trustBundle = unsafe text(info.cainfo)
    }

    /// Refuses a libcurl this stack cannot be built on.
    ///
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` that names the version.
    func validate() throws(Network.ConfigurationError) {
        guard versionNumber >= Self.oldest else {
            throw .invalid("CurlStack needs libcurl 7.87 or newer; this process runs with \(version).")
        }
        guard tlsVersion?.hasPrefix("OpenSSL") ?? false else {
            throw .invalid("CurlStack needs a libcurl built on OpenSSL; this one has \(tlsVersion ?? "no TLS").")
        }
    }

    /// What a stack on this libcurl can do, and why not what it cannot.
    var capabilities: HTTP.Capabilities {
        hasHTTP2
            ? HTTP.Capabilities()
            : HTTP.Capabilities(unsupported: [
                .http2: "libcurl \(version) was built without HTTP/2.",
                .http2PriorKnowledge: "libcurl \(version) was built without HTTP/2.",
            ])
    }

    /// Whether a handle that is used again has forgotten the head it received last. Before 8.1.1 it adds a head's folded
    /// first line to the last field of the head before, which is freed memory by then (curl #11101): any server could end the
    /// process. There, such a head is refused before libcurl looks at it (``HeadReader/mayFollow(_:)``).
    var forgetsHeads: Bool { versionNumber >= 0x080101 }

    /// Whether HTTP/2 is as it was before it was written anew in 8.1: input may be left lying (``HeldInput``), and what a full
    /// socket does not take of an upload may be sent twice (``Transfer/roomForContent(upTo:)``).
    var hasOldHTTP2: Bool { versionNumber < 0x080100 }

    /// Whether HTTP/2 by prior knowledge begins anew on a connection that speaks it already, and fails (until 8.0). There, what
    /// joins such a connection is told nothing of HTTP/2; if libcurl begins it anew on another one, that is of no use.
    var restartsHTTP2: Bool { versionNumber < 0x080000 }

    /// Whether the end of a kept connection of HTTP/2 may look like that of a stream that was refused: both may come without
    /// a word, and libcurl sends the request again by itself. From 8.1 on that is so if the connection dies; before, if what
    /// the server sends makes no sense, or an answer comes in one piece with its reset. Since 8.7 it is an error that nothing
    /// is repeated for.
    var mistakesDeathForRefusal: Bool { versionNumber < 0x080700 }

    /// Whether only libcurl's verbose text tells what a server's farewell counts as dealt with. Later versions end the
    /// streams beyond it as refused, and repeat nothing else.
    var tellsFarewellsInPassing: Bool { versionNumber < 0x080700 }

    /// Whether a transfer goes on at once to the next of a host's addresses where one cannot be connected to. Before 8.4 it
    /// waits for its time to run out (curl #11920), unless it is called up (``Turn/betweenAddresses``).
    var triesNextAddressAtOnce: Bool { versionNumber >= 0x080400 }

    /// Whether libcurl reads what is paused: 8.5 has every connection watched, whatever its transfer wants (curl #12632), and
    /// keeps 64 MiB of what comes. There, the socket is left alone meanwhile (``Poller/holdBack(_:_:for:)``).
    var readsWhatIsPaused: Bool { (0x080500..<0x080600).contains(versionNumber) }

    /// Whether a timer may go off unheard: older versions throw one out with another of the transfer's that goes off in the same
    /// millisecond, a little too early. The wait for 100 Continue would never end then, so whoever waits is called up
    /// (``Turn/asking``).
    var losesTimers: Bool { versionNumber < 0x080500 }

    /// Whether libcurl may read nothing of an answer over HTTP/2 while its request waits for content: 8.4 and 8.5 leave a
    /// transfer alone that is paused in one direction, if they have noted both to be dealt with. There, it is let go on whenever
    /// its connection was read, and pauses again (``Turn/lookPastPause(at:)``).
    var pausesBothWays: Bool { (0x080400..<0x080600).contains(versionNumber) }

    /// Whether a connection of HTTP/2 is read until it brings content of a stream, or nothing (``FloodGuard``).
    var readsOn: Bool { versionNumber < 0x080800 }

    /// Whether a content's end is told from that of its connection where libcurl itself gives one of HTTP/2 up: not before 8.2.
    var tellsEndsApart: Bool { versionNumber >= 0x080200 }

    /// Whether verbose text is needed to tell which connection over a Unix socket was chosen: newer versions do by themselves
    /// what that is told for.
    var tellsConnectionsInPassing: Bool { versionNumber < 0x080200 }

    /// Whether names stay known after a transfer that takes addresses of any age. From 8.1 to 8.15 all are forgotten then.
    var keepsOldAddresses: Bool { !(0x080100..<0x081000).contains(versionNumber) }

    /// Whether others may join a connection of HTTP/2 in the clear before it has answered. From 8.13 to 8.15 they may not, and
    /// who is told to wait for it (`CURLOPT_PIPEWAIT`) waits for its first answer, without a clock (curl #18177).
    var sharesBeforeAnswers: Bool { !(0x080D00..<0x081000).contains(versionNumber) }

    /// The versions.
    public var description: String { "libcurl \(version) with \(tlsVersion ?? "no TLS")" }
}
