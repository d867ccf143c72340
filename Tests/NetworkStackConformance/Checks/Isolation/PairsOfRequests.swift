import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension Pair {
    /// A pair for each feature of a request, and of its fetch.
    static let ofRequests: [Pair] = methods + targets + fields + bodies + ways

    private static let methods =
        [
            ("the method DELETE", HTTP.Method.DELETE), ("the method HEAD", .HEAD), ("the method OPTIONS", .OPTIONS),
            ("a POST without a body", .POST), ("the method PURGE", HTTP.Method(rawValue: "PURGE")),
        ]
        .map { name, method in ofRequest(name) { $0.method = method } }

    private static let targets = [
        ofRequest("a target with lower-case escapes") { $0.target = "/pair/a%2fb%c3%bc" },
        ofRequest("a target of one escaped dot") { $0.target = "/pair/%2e%2E/x" }.needing(.versionChoice),
        ofRequest("an empty query") { $0.target = "/pair?" },
        ofRequest("a query") { $0.target = "/pair?a=%2f&b=c" },
        ofRequest("a fragment") { $0.target = "/pair#part" },
        ofRequest("user info") { $0.userInfo = "user:word@" },
    ]

    private static let fields =
        [
            ofField("a field", ["X-Pair": "one"]),
            ofField("a field of two lines", ["X-Pair": "one", "x-pair": "two"]),
            ofField("a field without a value", ["X-Pair": ""]),
            ofField("a Host field", ["Host": "pair.test"], needs: [.hostHeader, .network]),
            ofField("an Accept field", ["Accept": "text/plain"]),
            ofField("a User-Agent field", ["User-Agent": "Pair/1"]),
            ofField(
                "an Accept-Encoding field",
                ["Accept-Encoding": "identity"],
                needs: [.network, .disablingDecompression]
            ),
            ofField("a range", ["Range": "bytes=0-1"], needs: [.network]),
            ofField("an Authorization", ["Authorization": "Bearer t"]),
            ofField("a cookie", ["Cookie": "a=b"]),
            ofField("a TE: trailers", ["TE": "trailers"], needs: [.network, .trailers]),
        ] + [
            Pair(
                name: "a Connection: close",
                needs: [.network],
                set: { fetch, _ in fetch.headers = ["Connection": "close"] }
            )
        ]

    private static let content = Data("content".utf8)

    private static let bodies = [
        ofBody("a body") { .bytes(content) },
        ofBody("an empty body of bytes") { .bytes(Data()) },
        ofBody("a large body") { .bytes(patternBytes(300_000)) },
        ofBody("a stream of known length") { .stream(.init(length: 7) { pieces() }) },
        ofBody("a stream of unknown length") { .stream(.init { wholeContent() }) },
        ofBody("a stream that is read once") { .stream(.init(pieces(), length: 7)) },
        ofBody("trailers", needs: [.network, .requestTrailers]) {
            var stream = HTTP.Body.Stream { wholeContent() }
            stream.trailers = .init(["X-Sum"]) { ["X-Sum": "7"] }
            return .stream(stream)
        }.overHTTP1,
        ofBody("a file") { .file(path: "/proc/sys/kernel/ostype") },
        Pair(
            name: "an Expect field",
            needs: [.network, .expectContinue],
            situations: PairSituation.usual.union([.changedByRetry]),
            base: { fetch, _ in (fetch.method, fetch.body) = (.PUT, { .bytes(content) }) },
            set: { fetch, _ in fetch.headers = ["Expect": "100-continue"] }
        ),
    ]

    private static func pieces() -> AsyncStream<Data> {
        AsyncStream { continuation in
            for piece in [content.prefix(3), content.dropFirst(3)] { continuation.yield(Data(piece)) }
            continuation.finish()
        }
    }

    /// The body in one chunk: if each chunk were sent separately, the number of bytes would depend on timing.
    private static func wholeContent() -> AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(content)
            continuation.finish()
        }
    }

    private static let ways = [
        Pair(
            name: "a reader of the stream",
            situations: PairSituation.usual.union([.overHTTP2]),
            set: { fetch, _ in fetch.isStreamed = true }
        ),
        Pair(
            name: "an interceptor",
            situations: PairSituation.usual.union([.overHTTP2]),
            set: { fetch, _ in
                fetch.interceptors = [
                    Spy("pair", fetch.log).with {
                        $0.make = { made, handler in
                            handler(
                                made.map { request in
                                    var request = request
                                    request.headers["X-Interceptor"] = "i"
                                    return request
                                }
                            )
                        }
                    }
                ]
            }
        ),
        Pair(
            name: "a compressed body",
            needs: [.network, .decompression],
            base: { fetch, _ in fetch.target = "/pair/plain" },
            set: { fetch, _ in fetch.target = "/pair/gzip" },
            answer: { request, _, _ in
                request.path == "/pair/gzip"
                    ? .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")]) : .ok("plain")
            }
        ),
        Pair(
            name: "trailers in the response",
            needs: [.network, .trailers],
            base: { fetch, _ in fetch.target = "/pair/plain" },
            set: { fetch, _ in fetch.target = "/pair/trailers" },
            answer: { request, _, _ in
                request.path == "/pair/trailers"
                    ? .chunked(["a", "b"], headers: [("Trailer", "X-T")], trailers: [("X-T", "t")]) : .ok("plain")
            }
        ),
        Pair(
            name: "a failure within the body",
            needs: [.network],
            sharesConnections: false,
            base: { fetch, _ in fetch.target = "/pair/whole" },
            set: { fetch, _ in fetch.target = "/pair/cut" },
            answer: { request, _, _ in
                request.path == "/pair/cut"
                    ? .raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncut").then(.close) : .ok("whole")
            }
        ),
    ]

    /// A pair of requests that differ in one thing.
    private static func ofRequest(
        _ name: String,
        needs: Set<HTTP.Capability> = [],
        _ change: @escaping @Sendable (inout PairFetch) -> Void
    ) -> Pair {
        Pair(
            name: name,
            needs: needs,
            situations: PairSituation.ofRequests,
            set: { fetch, _ in change(&fetch) },
            answer: { request, _, _ in
                .ok("of a pair", headers: request["te"] == nil ? [] : [("X-TE", "asked")])
            }
        )
    }

    private static func ofField(_ name: String, _ fields: HTTP.Headers, needs: Set<HTTP.Capability> = []) -> Pair {
        ofRequest(name, needs: needs) { $0.headers = fields }
    }

    /// A pair of PUTs with different bodies.
    private static func ofBody(
        _ name: String,
        needs: Set<HTTP.Capability> = [],
        _ make: @escaping @Sendable () -> HTTP.Body
    ) -> Pair {
        var pair = ofRequest(name, needs: needs) { $0.body = make }
        pair.base = { fetch, _ in (fetch.method, fetch.body) = (.PUT, { .bytes(Data("other".utf8)) }) }
        return pair
    }

    /// The same for pairs in which one side uses HTTP/1.1: libcurl uses its connection for both (see the pair of versions).
    private var overHTTP1: Pair {
        var pair = self
        pair.situations.remove(.overHTTP2)
        return pair
    }

    private func needing(_ capability: HTTP.Capability) -> Pair {
        var pair = self
        pair.needs.insert(capability)
        return pair
    }
}
