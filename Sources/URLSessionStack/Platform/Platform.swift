internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// All differences of URLSession between platforms, each with its reason.
///
/// On Linux, Android and Windows, Foundation's networking is a separate module on libcurl (swift-corelibs-foundation, "SCF"
/// below; numbers are its issues and pull requests, behaviours those of its 6.3 release). What it cannot do is listed here.
/// Defects that can be worked around are handled where they occur.
enum Platform {
    /// What URLSession cannot do here, each with the reason.
    static let capabilities = HTTP.Capabilities(unsupported: unsupportedEverywhere.merging(unsupported) { $1 })

    /// What URLSession cannot do on any platform, each with the reason.
    private static let unsupportedEverywhere: [HTTP.Capability: String] = [
        .http2PriorKnowledge: "URLSession has no way to ask for HTTP/2 in the clear.",
        .versionChoice: "URLSession negotiates the version of HTTP itself, over https.",
        .digestAuthentication:
            "URLSession answers challenges from a store of its own; this stack keeps it out of the way.",
        .preconnection: "URLSession opens a connection only for a request.",
        .unixSockets: "URLSession has no way to ask for a Unix domain socket.",
        .hostOverrides: "URLSession connects where names lead.",
        .addressFamily: "URLSession chooses among a name's addresses itself.",
        .localAddress: "URLSession has no say in where its connections come from.",
        .expectContinue: "URLSession does not wait for 100 Continue.",
        .decompressionRatio: "URLSession does not report how long a body was before it decompressed it.",
        .bodyWithAnyMethod: "URLSession refuses to send a body with GET.",
        .requestTrailers: "URLSession has no way to send fields after a request's body.",
        .disablingDecompression: "URLSession always decompresses.",
        .headerOrder:
            "URLSession keeps header fields in a dictionary: lines of one name are joined, their order is lost.",
        .connectionEvents: "URLSession does not show its connections while a task runs.",
        .informationalResponses: "URLSession does not deliver informational responses.",
        .headLimit: "URLSession delivers a head only when it is complete; the limit is checked then.",
    ]

    /// The content codings that URLSession decodes, in lower case. Its libcurl may decode fewer, and then fails.
    static let contentCodings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    /// URLSession's timeout, in seconds; it must never fire before the engine's. `0` fails at once, `.infinity` crashes the
    /// process, and fractions are cut off, so it is a year.
    static let ownTimeout: Double = 365 * 86_400

    #if canImport(FoundationNetworking)
        /// A field with a blank value is not sent, and prevents URLSession and libcurl from adding that field.
        static let suppressed: String? = " "

        /// Removes a session's cache. Nothing is ever cached, but with a cache each task begins on another queue; a cancel at
        /// that moment may come after the task's end, which crashes the process.
        static func detachCache(from session: URLSession) { session.configuration.urlCache = nil }

        /// Limits a session's timeout. URLSession counts it in milliseconds, for every task, even where the request has another,
        /// and crashes on overflow.
        static func boundTimeout(of session: URLSession) {
            let configuration = session.configuration
            if abs(configuration.timeoutIntervalForRequest) <= ownTimeout { return }
            configuration.timeoutIntervalForRequest = ownTimeout
        }

        /// Refuses proxies that URLSession would not use as asked: it uses those that the environment names, as libcurl reads it,
        /// regardless of its configuration, and no others.
        static func check(_ proxies: Network.Proxies) throws(Network.ConfigurationError) {
            let environment = ProcessInfo.processInfo.environment
            let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].filter {
                !(environment[$0] ?? "").isEmpty
            }
            if proxies.isEmpty, names.isEmpty { return }
            let (used, all): (Network.Proxies, Network.ProxyExceptions)
            do {
                (used, all) = (try .environment(environment), try .init("*"))
            } catch {
                throw .init(error)
            }
            if proxies == used { return }
            guard proxies.isEmpty else { return try capabilities.require(.proxies) }
            if used.exceptions == all { return }
            throw .unsupported(
                .proxies,
                reason: """
                    URLSession on this platform uses the proxies that the environment names, and nobody asked for them: ask \
                    with Network.Proxies.environment(), or unset \(names.joined(separator: ", ")).
                    """
            )
        }

        /// The tunnels that URLSession uses regardless of its configuration. Each task reads them again.
        static func tunnels() -> Tunnels { Tunnels(environment: ProcessInfo.processInfo.environment) }

        /// The longest head of a request, in bytes. For a longer one libcurl reports that it is out of memory.
        static let longestHead: Int? = 1 << 20

        /// Refuses to send a secure cookie in the clear: URLSession selects cookies by their host only.
        static func checkCookies(of session: URLSession, for hop: HTTPHop) throws(Network.ConfigurationError) {
            guard hop.origin.scheme == .http, session.configuration.httpShouldSetCookies,
                let cookies = session.configuration.httpCookieStorage?.cookies(for: hop.request.url),
                cookies.contains(where: \.isSecure)
            else { return }
            throw .invalid(
                """
                URLSession on this platform would send the session's secure cookies in the clear. Fetch by https, or give the \
                stack a session whose httpShouldSetCookies is false.
                """
            )
        }

        /// The delegate queue of a session that the stack makes.
        static func eventQueue() -> OperationQueue? { EventQueue() }

        /// Removes a session's header fields from its configuration. URLSession would add them to every task, also after a
        /// redirect to another server. The configuration is the session's, not a copy.
        static func takeFields(from session: URLSession) -> [AnyHashable: Any] {
            let configuration = session.configuration
            defer { configuration.httpAdditionalHeaders = nil }
            return configuration.httpAdditionalHeaders ?? [:]
        }

        /// A body source as a stream that URLSession reads.
        static func stream(
            of source: any HTTPBodySource,
            path: String,
            length: Int64,
            onFailure: @escaping (any Error) -> Void
        ) -> InputStream { SourceStream(source, length: length, onFailure: onFailure) }

        /// Bytes as a stream that URLSession reads. It counts what is read.
        static func stream(of bytes: Data) -> InputStream {
            SourceStream(BytesBodySource(bytes), length: Int64(bytes.count)) { _ in }
        }

        /// Why no key can be pinned.
        static let noTrust =
            "URLSession on this platform shows no server's certificates: it poses no challenge, and its libcurl is out of reach."

        private static let unsupported: [HTTP.Capability: String] = [
            .connectTimeout:
                "URLSession does not tell when the connection is open; the idle and total timeouts bound it.",
            .idleConnectionAge: "URLSession keeps idle connections as libcurl sees fit.",
            .streamsPerConnection:
                "URLSession leaves the streams of an HTTP/2 connection to libcurl, which takes up to 100.",
            .connectionLifetime: "URLSession keeps connections as libcurl sees fit.",
            .closesOnExec: "URLSession leaves libcurl's sockets as they are, open in child processes.",
            .keepAliveTimeouts: "URLSession has no age for one connection, and libcurl does not read Keep-Alive.",
            .idempotentRetriesOnly:
                "URLSession has libcurl send again whatever was sent on a kept connection that died.",
            .proxies:
                "URLSession on this platform ignores its configuration's proxies (SCF #5199); those of the environment can be asked for.",
            .dnsCacheAge: "URLSession keeps looked-up addresses as libcurl sees fit.",
            .customTrustRoots: "URLSession on this platform trusts the system's authorities only.",
            .publicKeyPinning: noTrust,
            .serverPins: noTrust,
            .clientCertificates: "URLSession on this platform has no way to be given a certificate (SCF #4937).",
            .tlsVersions: "URLSession on this platform leaves the version of TLS to libcurl.",
            .unverifiedTLS: "URLSession on this platform verifies every server.",
            .alternativeNames:
                "URLSession on this platform leaves names to libcurl, which takes one in the subject where there is no other (lib/vtls/openssl.c).",
            .tlsFailureDetail: "URLSession reports every TLS failure with one code, -1.",
            .caseSensitiveMethods:
                "URLSession writes GET, HEAD, POST, PUT and DELETE in capitals, however they were given.",
            .streamedRequestBody:
                "URLSession takes a stream without bytes for its end; a stream is read to its end first, then sent with its length.",
            .trailers: "URLSession crashes the process when a response has trailers (SCF #5285; fixed after 6.3).",
            .unknownCodings:
                "URLSession on this platform has libcurl decode bodies, which fails at a coding that it does not know.",
            .pathAsIs: "URLSession's libcurl removes the segments . and .. from a path.",
            .nonconformingHeads:
                "URLSession refuses heads with bare line feeds, Latin-1, or no blank after a colon (SCF #5527).",
            .phaseMetrics: "URLSession on this platform collects no metrics.",
            .ipv6Literals:
                "URLSession and libcurl do not agree on the host of such a URL (SCF #5496; fixed after 6.3).",
            .backPressure:
                "URLSession reads on at full speed; what the reader does not take is held, up to the body limit.",
            .strictReplies:
                "URLSession crashes the process when a connection ends within a head (SCF #5285) or a Content-Length is next to 2^63, and cannot see every broken reply.",
        ]
    #else
        /// URLSession adds its own fields here.
        static let suppressed: String? = nil

        /// Requests bypass the cache here.
        static func detachCache(from session: URLSession) {}

        /// A session's timeout needs no limit here.
        static func boundTimeout(of session: URLSession) {}

        /// The system's proxies are used; none can be chosen.
        static func check(_ proxies: Network.Proxies) throws(Network.ConfigurationError) {
            if proxies != .none { try capabilities.require(.proxies) }
        }

        /// URLSession hides a proxy's answers here.
        static func tunnels() -> Tunnels { .none }

        /// URLSession has no limit of a head here.
        static let longestHead: Int? = nil

        /// URLSession selects cookies correctly here.
        static func checkCookies(of session: URLSession, for hop: HTTPHop) throws(Network.ConfigurationError) {}

        /// URLSession makes the delegate queue here.
        static func eventQueue() -> OperationQueue? { nil }

        /// A session's header fields stay with it: its configuration is a copy here.
        static func takeFields(from session: URLSession) -> [AnyHashable: Any] { [:] }

        /// A body source as a stream: its file's own, because URLSession reads only Foundation's streams here.
        static func stream(
            of source: any HTTPBodySource,
            path: String,
            length: Int64,
            onFailure: @escaping (any Error) -> Void
        ) -> InputStream { InputStream(fileAtPath: path) ?? SourceStream(source, length: length, onFailure: onFailure) }

        /// Bytes as a stream that URLSession reads.
        static func stream(of bytes: Data) -> InputStream { InputStream(data: bytes) }

        private static let unsupported: [HTTP.Capability: String] = [
            .connectTimeout: "URLSession has no timeout for opening a connection.",
            .idleConnectionAge: "URLSession keeps idle connections as it sees fit.",
            .streamsPerConnection: "URLSession has no limit of streams on a connection.",
            .connectionLifetime: "URLSession keeps connections as it sees fit.",
            .idempotentRetriesOnly: "URLSession sends again what it sees fit when a kept connection dies.",
            .proxies: "This stack does not set URLSession's proxies yet; the system's are used.",
            .dnsCacheAge: "URLSession keeps looked-up addresses as it sees fit.",
            .customTrustRoots: "This stack does not evaluate server trust itself yet.",
            .publicKeyPinning: "Give a ServerTrustEvaluator as the challenge handler instead.",
            .serverPins: "This stack does not read URLSession's certificates.",
            .clientCertificates: "Answer the challenge for a client certificate instead.",
            .tlsVersions: "This stack does not set URLSession's versions of TLS.",
            .unverifiedTLS: "URLSession verifies every server.",
            .caseSensitiveMethods: "URLSession writes well-known methods in capitals, however they were given.",
            .streamedRequestBody: "This stack reads a stream to its end first, then sends it with its length.",
            .trailers: "URLSession does not deliver trailers.",
            .unknownCodings: "This stack does not tell what URLSession has decoded.",
            .nonconformingHeads: "URLSession decides itself which heads it reads.",
            .phaseMetrics: "This stack does not read URLSession's metrics yet.",
            .backPressure: "This stack cannot stop URLSession from reading; what the reader does not take is held.",
            .strictReplies: "URLSession does not tell every broken reply.",
        ]
    #endif
}
