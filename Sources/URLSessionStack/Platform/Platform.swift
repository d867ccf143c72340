internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Every way in which URLSession differs from platform to platform, each with its reason, and nowhere else.
///
/// On Linux, Android and Windows, Foundation's networking is a module of its own, built on libcurl
/// (swift-corelibs-foundation, "SCF" below; the numbers are of its issues and pull requests, the behaviours those of the
/// 6.3 release). What it cannot do is said here; what it does wrong and can be set right is set right where it happens.
enum Platform {
    /// What URLSession cannot do here, each with the reason.
    static let capabilities = HTTP.Capabilities(unsupported: unsupported)

    /// The content codings that URLSession undoes, in lower case; what it is built with may undo fewer, and fails at the rest.
    static let contentCodings: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    /// URLSession's own clock must never run out before the engine's: `0` fails at once, `.infinity` ends the process,
    /// fractions are cut off. A year is as good as never.
    static let ownTimeout: Double = 365 * 86_400

    #if canImport(FoundationNetworking)
        /// A field with a blank for its value is not sent, and keeps URLSession and libcurl from adding their own.
        static let suppressed: String? = " "

        /// Takes a session's cache away. Nothing is ever cached, but with a cache every task begins on another queue, and a
        /// cancel at that moment may come after the task's end, which ends the process.
        static func detachCache(from session: URLSession) { session.configuration.urlCache = nil }

        /// Bounds a session's own timeout. URLSession counts it in milliseconds, for every task and also where a request has
        /// another, and ends the process if there are too many.
        static func boundTimeout(of session: URLSession) {
            let configuration = session.configuration
            if abs(configuration.timeoutIntervalForRequest) <= ownTimeout { return }
            configuration.timeoutIntervalForRequest = ownTimeout
        }

        /// Refuses what URLSession would do otherwise than asked: it uses the proxies that the environment names, as libcurl
        /// reads it, whatever its configuration says, and no others.
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

        /// The tunnels that URLSession sends through, whatever it is told; they are read anew by each of its tasks.
        static func tunnels() -> Tunnels { Tunnels(environment: ProcessInfo.processInfo.environment) }

        /// How long a request's head may be, in bytes. libcurl says of a longer one that there is no memory.
        static let longestHead: Int? = 1 << 20

        /// Refuses to send a secure cookie in the clear: URLSession takes cookies from its jar by their host alone, whatever
        /// else they say.
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

        /// The delegate queue of a session of the stack's own.
        static func eventQueue() -> OperationQueue? { EventQueue() }

        /// Takes a session's own header fields away: with them in its configuration URLSession would add them to every task,
        /// those of a redirect to another server included. The configuration is the session's own, not a copy.
        static func takeFields(from session: URLSession) -> [AnyHashable: Any] {
            let configuration = session.configuration
            defer { configuration.httpAdditionalHeaders = nil }
            return configuration.httpAdditionalHeaders ?? [:]
        }

        /// What a source has, as URLSession reads it.
        static func stream(
            of source: any HTTPBodySource,
            path: String,
            length: Int64,
            onFailure: @escaping (any Error) -> Void
        ) -> InputStream { SourceStream(source, length: length, onFailure: onFailure) }

        /// Why no key can be pinned.
        static let noTrust =
            "URLSession on this platform shows no server's certificates: it poses no challenge, and its libcurl is out of reach."

        private static let unsupported: [HTTP.Capability: String] = [
            .http2PriorKnowledge: "URLSession has no way to ask for HTTP/2 in the clear.",
            .versionChoice: "URLSession negotiates the version of HTTP itself, over https.",
            .digestAuthentication:
                "URLSession answers challenges from a store of its own; this stack keeps it out of the way.",
            .connectTimeout:
                "URLSession does not tell when the connection is open; the idle and total timeouts bound it.",
            .idleConnectionAge: "URLSession keeps idle connections as libcurl sees fit.",
            .streamsPerConnection:
                "URLSession leaves the streams of an HTTP/2 connection to libcurl, which takes up to 100.",
            .connectionLifetime: "URLSession keeps connections as libcurl sees fit.",
            .carefulRepeats: "URLSession has libcurl send again whatever was sent on a kept connection that died.",
            .preconnection: "URLSession opens a connection only for a request.",
            .proxies:
                "URLSession on this platform ignores its configuration's proxies (SCF #5199); those of the environment can be asked for.",
            .unixSockets: "URLSession has no way to ask for a Unix domain socket.",
            .hostOverrides: "URLSession connects where names lead.",
            .addressFamily: "URLSession chooses among a name's addresses itself.",
            .localAddress: "URLSession has no say in where its connections come from.",
            .dnsCacheAge: "URLSession keeps looked-up addresses as libcurl sees fit.",
            .expectContinue: "URLSession does not wait for 100 Continue.",
            .decompressionRatio: "URLSession does not tell how long content was before it decompressed it.",
            .customTrustRoots: "URLSession on this platform trusts the system's authorities only.",
            .publicKeyPinning: noTrust,
            .serverPins: noTrust,
            .clientCertificates: "URLSession on this platform has no way to be given a certificate (SCF #4937).",
            .tlsVersions: "URLSession on this platform leaves the version of TLS to libcurl.",
            .unverifiedTLS: "URLSession on this platform verifies every server.",
            .alternativeNames:
                "URLSession on this platform leaves names to libcurl, which takes one in the subject where there is no other (lib/vtls/openssl.c).",
            .tlsFailureDetail: "URLSession reports every TLS failure with one code, -1.",
            .bodyWithAnyMethod: "URLSession refuses to send content with GET.",
            .methodCase: "URLSession writes GET, HEAD, POST, PUT and DELETE in capitals, however they were given.",
            .streamedRequestBody:
                "URLSession takes a stream without bytes for its end; a stream is read to its end first, then sent with its length.",
            .requestTrailers: "URLSession has no way to send fields after a request's content.",
            .trailers: "URLSession ends the process when a response has trailers (SCF #5285; fixed after 6.3).",
            .rawContent: "URLSession always decompresses.",
            .unknownCodings:
                "URLSession on this platform has libcurl decode content, which fails at a coding that it does not know.",
            .pathAsIs: "URLSession's libcurl removes the segments . and .. from a path.",
            .headerOrder:
                "URLSession keeps header fields in a dictionary: lines of one name are joined, their order is lost.",
            .lenientHeads:
                "URLSession refuses heads with bare line feeds, Latin-1, or no blank after a colon (SCF #5527).",
            .phaseMetrics: "URLSession on this platform collects no metrics.",
            .informationalResponses: "URLSession does not deliver informational responses.",
            .ipv6Literals:
                "URLSession and libcurl do not agree on the host of such a URL (SCF #5496; fixed after 6.3).",
            .backPressure:
                "URLSession reads on at full speed; what the reader does not take is held, up to the body limit.",
            .headLimit: "URLSession delivers a head only when it is complete; the limit is checked then.",
            .strictReplies:
                "URLSession ends the process when a connection ends within a head (SCF #5285) or a Content-Length is next to 2^63, and cannot see every broken reply.",
        ]
    #else
        /// URLSession adds its own fields here.
        static let suppressed: String? = nil

        /// Requests bypass the cache here.
        static func detachCache(from session: URLSession) {}

        /// A session's own timeout does no harm here.
        static func boundTimeout(of session: URLSession) {}

        /// The system's proxies are used; none can be chosen.
        static func check(_ proxies: Network.Proxies) throws(Network.ConfigurationError) {
            if proxies != .none { try capabilities.require(.proxies) }
        }

        /// URLSession keeps what a proxy says to itself here.
        static func tunnels() -> Tunnels { .none }

        /// URLSession knows of no longest head here.
        static let longestHead: Int? = nil

        /// URLSession sends the cookies that it should here.
        static func checkCookies(of session: URLSession, for hop: HTTPHop) throws(Network.ConfigurationError) {}

        /// URLSession makes the delegate queue here.
        static func eventQueue() -> OperationQueue? { nil }

        /// A session's own header fields stay with it, as its configuration is a copy here.
        static func takeFields(from session: URLSession) -> [AnyHashable: Any] { [:] }

        /// What a source has: its file's own stream, as URLSession reads no other but Foundation's here.
        static func stream(
            of source: any HTTPBodySource,
            path: String,
            length: Int64,
            onFailure: @escaping (any Error) -> Void
        ) -> InputStream { InputStream(fileAtPath: path) ?? SourceStream(source, length: length, onFailure: onFailure) }

        private static let unsupported: [HTTP.Capability: String] = [
            .http2PriorKnowledge: "URLSession has no way to ask for HTTP/2 in the clear.",
            .versionChoice: "URLSession negotiates the version of HTTP itself, over https.",
            .digestAuthentication:
                "URLSession answers challenges from a store of its own; this stack keeps it out of the way.",
            .connectTimeout: "URLSession has no timeout for opening a connection.",
            .idleConnectionAge: "URLSession keeps idle connections as it sees fit.",
            .streamsPerConnection: "URLSession has no limit of streams on a connection.",
            .connectionLifetime: "URLSession keeps connections as it sees fit.",
            .carefulRepeats: "URLSession sends again what it sees fit when a kept connection dies.",
            .preconnection: "URLSession opens a connection only for a request.",
            .proxies: "This stack does not set URLSession's proxies yet; the system's are used.",
            .unixSockets: "URLSession has no way to ask for a Unix domain socket.",
            .hostOverrides: "URLSession connects where names lead.",
            .addressFamily: "URLSession chooses among a name's addresses itself.",
            .localAddress: "URLSession has no say in where its connections come from.",
            .dnsCacheAge: "URLSession keeps looked-up addresses as it sees fit.",
            .expectContinue: "URLSession does not wait for 100 Continue.",
            .decompressionRatio: "URLSession does not tell how long content was before it decompressed it.",
            .customTrustRoots: "This stack does not evaluate server trust itself yet.",
            .publicKeyPinning: "Give a ServerTrustEvaluator as the challenge handler instead.",
            .serverPins: "This stack does not read URLSession's certificates.",
            .clientCertificates: "Answer the challenge for a client certificate instead.",
            .tlsVersions: "This stack does not set URLSession's versions of TLS.",
            .unverifiedTLS: "URLSession verifies every server.",
            .bodyWithAnyMethod: "URLSession refuses to send content with GET.",
            .methodCase: "URLSession writes well-known methods in capitals, however they were given.",
            .streamedRequestBody: "This stack reads a stream to its end first, then sends it with its length.",
            .requestTrailers: "URLSession has no way to send fields after a request's content.",
            .trailers: "URLSession does not deliver trailers.",
            .rawContent: "URLSession always decompresses.",
            .unknownCodings: "This stack does not tell what URLSession has decoded.",
            .headerOrder:
                "URLSession keeps header fields in a dictionary: lines of one name are joined, their order is lost.",
            .lenientHeads: "URLSession decides itself which heads it reads.",
            .phaseMetrics: "This stack does not read URLSession's metrics yet.",
            .informationalResponses: "URLSession does not deliver informational responses.",
            .backPressure: "This stack cannot stop URLSession from reading; what the reader does not take is held.",
            .headLimit: "URLSession delivers a head only when it is complete; the limit is checked then.",
            .strictReplies: "URLSession does not tell every broken reply.",
        ]
    #endif
}
