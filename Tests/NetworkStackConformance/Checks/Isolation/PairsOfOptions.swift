import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension Pair {
    /// A pair for each option of a fetch.
    static let ofOptions: [Pair] = redirectOptions + limitOptions + clockOptions + contentOptions + emptyOptions

    private static let redirectOptions = [
        Pair(
            name: "a limit of redirects",
            covers: ["redirects.limit"],
            set: { fetch, _ in fetch.withOptions { $0.redirects.limit = 0 } },
            answer: redirecting { _ in "/pair/end" }
        ),
        Pair(
            name: "redirects to plain http",
            covers: ["redirects.allowsInsecure"],
            needs: [.network, .customTrustRoots],
            servers: .secure,
            set: { fetch, _ in fetch.withOptions { $0.redirects.allowsInsecure = true } },
            answer: { request, _, _ in .redirect(to: "http://\(request["host"] ?? "")/pair") }
        ),
        Pair(
            name: "named secret fields",
            covers: ["sensitiveHeaders"],
            needs: [.network],
            situations: [.sameConnection, .closedConnection, .redirected, .retried],
            base: { fetch, _ in fetch.headers = ["X-Secret": "s"] },
            set: { fetch, _ in fetch.withOptions { $0.addSensitiveHeaders("X-Secret") } },
            answer: redirecting { $0.url(1, "/pair/end") }
        ),
        Pair(
            name: "another stack's secret fields",
            covers: ["configuration.sensitiveHeaders"],
            needs: [.network],
            situations: [.sameConnection, .closedConnection, .redirected, .retried],
            configureOne: { configuration, _ in configuration.sensitiveHeaders = ["X-Secret"] },
            base: { fetch, _ in fetch.headers = ["X-Secret": "s"] },
            answer: redirecting { $0.url(1, "/pair/end") }
        ),
    ]

    /// Answers with one redirect before the final response.
    private static func redirecting(
        to target: @escaping @Sendable (PairPlace) -> String
    ) -> @Sendable (ReceivedRequest, PairSide, PairPlace) -> Reply {
        { request, _, place in request.path == "/pair/end" ? .ok("the end") : .redirect(to: target(place)) }
    }

    private static let limitOptions = [
        Pair(
            name: "a body limit",
            covers: ["limits.body"],
            set: { fetch, _ in fetch.withOptions { $0.limits.body = 4 } }
        ),
        Pair(
            name: "a head limit",
            covers: ["limits.head"],
            needs: [.network, .headLimit],
            set: { fetch, _ in fetch.withOptions { $0.limits.head = 1000 } },
            answer: { _, _, _ in .ok("x", headers: [("X-Long", String(repeating: "a", count: 2000))]) }
        ),
        Pair(
            name: "a limit of field lines",
            covers: ["limits.headFields"],
            needs: [.network],
            set: { fetch, _ in fetch.withOptions { $0.limits.headFields = 9 } },
            answer: { _, _, _ in .ok("x", headers: (0..<12).map { ("X-Field-\($0)", "a") }) }
        ),
        Pair(
            name: "a limit of the decompression ratio",
            covers: ["limits.decompressionRatio"],
            needs: [.network, .decompression, .decompressionRatio],
            set: { fetch, _ in fetch.withOptions { $0.limits.decompressionRatio = 2 } },
            answer: { _, _, _ in .ok(bytes: Compressed.longBr, headers: [("Content-Encoding", "br")]) }
        ),
    ]

    private static let clockOptions = [
        Pair(
            name: "a queue timeout",
            covers: ["timeouts.queue"],
            needs: [.network, .queueTimeout],
            situations: [.sameConnection, .otherOrigin],
            servers: .taken,
            comparesRequests: false,
            sharesConnections: false,
            configure: { configuration, _ in configuration.connections.perHost = 1 },
            set: { fetch, _ in fetch.withOptions { $0.timeouts.queue = .milliseconds(50) } },
            unset: { fetch, _ in fetch.withOptions { $0.timeouts.total = .milliseconds(150) } }
        ),
        Pair(
            name: "a connect timeout",
            covers: ["timeouts.connect"],
            needs: [.network, .connectTimeout],
            situations: [.sameConnection, .otherOrigin],
            servers: .silent,
            set: { fetch, _ in fetch.withOptions { $0.timeouts.connect = .milliseconds(50) } },
            unset: { fetch, _ in fetch.withOptions { $0.timeouts.total = .milliseconds(150) } }
        ),
        Pair.ofClock("a first-byte timeout", .firstByte) { $0.firstByte = $1 },
        Pair.ofClock("an idle timeout", .idle) { $0.idle = $1 },
        Pair.ofClock("an attempt's timeout", .attempt) { $0.attempt = $1 },
        Pair.ofClock("a total timeout", .total) { $0.total = $1 },
    ]

    private static let contentOptions = [
        Pair(
            name: "HTTP/1.1 alone",
            covers: ["version"],
            needs: [.network, .http2, .versionChoice, .customTrustRoots],
            situations: [.overHTTP2],
            sharesConnections: false,
            set: { fetch, _ in fetch.withOptions { $0.version = .http1_1 } }
        ),
        Pair(
            name: "HTTP/2 by prior knowledge",
            needs: [.network, .http2, .http2PriorKnowledge, .customTrustRoots],
            situations: [.overHTTP2],
            servers: .priorKnowledge,
            sharesConnections: false,
            set: { fetch, _ in fetch.withOptions { $0.version = .http2PriorKnowledge } }
        ),
        Pair(
            name: "decompression",
            covers: ["decompresses"],
            needs: [.network, .disablingDecompression, .decompression],
            situations: usualAndHTTP2,
            sharesConnections: false,
            set: { fetch, _ in fetch.withOptions { $0.decompresses = false } },
            answer: { _, _, _ in .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")]) }
        ),
        Pair(
            name: "unknown codings",
            covers: ["passesUnknownCodings"],
            needs: [.network, .unknownCodings],
            sharesConnections: false,
            set: { fetch, _ in fetch.withOptions { $0.passesUnknownCodings = true } },
            answer: { _, _, _ in .ok("coded", headers: [("Content-Encoding", "aws-chunked")]) }
        ),
        Pair(
            name: "an as-is path",
            covers: ["pathAsIs"],
            needs: [.network, .pathAsIs],
            base: { fetch, _ in fetch.target = "/above/../pair" },
            set: { fetch, _ in fetch.withOptions { $0.pathAsIs = true } }
        ),
        Pair(
            name: "a wait for 100 Continue",
            covers: ["expectContinue"],
            needs: [.network, .expectContinue],
            base: { fetch, _ in (fetch.method, fetch.body) = (.PUT, { .bytes(Data("content".utf8)) }) },
            set: { fetch, _ in fetch.withOptions { $0.expectContinue = .seconds(20) } }
        ),
        Pair(
            name: "a callback for informational responses",
            covers: ["onInformational"],
            needs: [.network, .informationalResponses],
            set: { fetch, _ in
                let log = fetch.log
                fetch.withOptions { $0.onInformational = { log.add("\($0.status)") } }
            },
            answer: { _, _, _ in
                .raw("HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        ),
        Pair(
            name: "a callback for sent bytes",
            covers: ["onBytesSent"],
            situations: usualAndHTTP2,
            base: { fetch, _ in (fetch.method, fetch.body) = (.PUT, { .bytes(Data("content".utf8)) }) },
            set: { fetch, _ in
                let log = fetch.log
                fetch.withOptions { $0.onBytesSent = { log.add("\($0) of \($1 ?? -1)") } }
            }
        ),
        Pair(
            name: "the collection of server keys",
            covers: ["collectsServerPins"],
            needs: [.network, .serverPins, .customTrustRoots],
            servers: .secure,
            sharesConnections: false,
            set: { fetch, _ in fetch.withOptions { $0.collectsServerPins = true } }
        ),
        Pair(
            name: "Digest credentials",
            covers: ["digestCredentials"],
            needs: [.network, .digestAuthentication],
            set: { fetch, place in
                fetch.options = try .digest("u", "p", at: [place.url(0), place.url(1)])
            },
            answer: { request, _, _ in
                request["authorization"] == nil
                    ? .status(401, headers: [("WWW-Authenticate", #"Digest realm="r", nonce="n1", qop="auth""#)])
                    : .ok("in")
            }
        ),
        Pair(
            name: "omitted stack fields",
            covers: ["usesSessionHeaders"],
            situations: usualAndHTTP2,
            configure: { configuration, _ in configuration.headers = ["X-Stack": "s"] },
            set: { fetch, _ in fetch.withOptions { $0.usesSessionHeaders = false } }
        ),
    ]

    private static let usualAndHTTP2 = PairSituation.usual.union([.overHTTP2])

    private static let emptyOptions = [
        Pair.ofEmpty("emptyResponseCodes") { $0.emptyResponseCodes = [.ok] },
        Pair.ofEmpty("emptyRequestMethods") { $0.emptyRequestMethods = [.GET] },
        Pair.ofEmpty("allowsEmptyBody") { $0.allowsEmptyBody = true },
        Pair(
            name: "statuses that fail",
            covers: ["failsForStatus"],
            set: { fetch, _ in fetch.withOptions { $0.failsForStatus = { _ in true } } },
            answer: { _, _, _ in .ok("x") }
        ),
    ]

    /// A success with an empty body, which an option allows.
    private static func ofEmpty(_ name: String, _ set: @escaping @Sendable (inout HTTP.Options) -> Void) -> Pair {
        Pair(
            name: name,
            covers: [name],
            set: { fetch, _ in fetch.withOptions(set) },
            answer: { _, _, _ in .ok() }
        )
    }

    /// A timeout that fires before the response; without it, the later response is a success.
    ///
    /// Load does not matter: the server answers only one of them, and the other's timeouts are long.
    private static func ofClock(
        _ name: String,
        _ clock: HTTP.Timeout,
        needs: Set<HTTP.Capability> = [.network],
        _ set: @escaping @Sendable (inout HTTP.Options.Timeouts, Duration) -> Void
    ) -> Pair {
        Pair(
            name: name,
            covers: ["timeouts.\(clock.rawValue)"],
            needs: needs,
            situations: PairSituation.short,
            comparesRequests: false,
            sharesConnections: false,
            set: { fetch, _ in fetch.withOptions { set(&$0.timeouts, .milliseconds(50)) } },
            answer: { _, side, _ in
                side == .with
                    ? .steps([.waitForClose]) : Reply.steps([.pause(.milliseconds(120))]).then(.send("\(lateAnswer)"))
            }
        )
    }

    private static let lateAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
}
