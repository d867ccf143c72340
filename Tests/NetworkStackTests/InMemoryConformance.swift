import FoundationEssentials
import NetworkStack
import NetworkStackConformance
import NetworkStackTesting
import Testing

extension InMemoryTransport {
    /// The capabilities that memory lacks, and the reasons.
    static let lacking: [HTTP.Capability: String] = {
        let wire = "Nothing is sent over a network."
        let connections = "There are no connections."
        return [
            .http2: wire, .http2PriorKnowledge: wire, .trailers: wire, .informationalResponses: wire,
            .nonconformingHeads: wire,
            .digestAuthentication: wire, .headLimit: wire, .strictReplies: wire, .phaseMetrics: wire,
            .connectionEvents: wire,
            .decompression: "The body is what the handler returned.",
            .backPressure: "A response is delivered as a whole.", .customTrustRoots: "There is no TLS.",
            .tlsFailureDetail: "There is no TLS.", .connectTimeout: connections, .queueTimeout: connections,
            .totalConnectionLimit: connections, .idleConnectionAge: connections, .connectionLifetime: connections,
            .streamsPerConnection: connections, .preconnection: connections, .proxies: connections,
            .unixSockets: connections, .hostOverrides: connections, .addressFamily: connections,
            .localAddress: connections, .dnsCacheAge: connections, .versionChoice: wire, .expectContinue: wire,
            .decompressionRatio: "The body is what the handler returned.",
            .publicKeyPinning: "There is no TLS.", .serverPins: "There is no TLS.",
            .clientCertificates: "There is no TLS.", .tlsVersions: "There is no TLS.",
            .unverifiedTLS: "There is no TLS.",
        ]
    }()
}

/// Hosts in memory, and the suite's servers among them.
final class InMemoryHosts: Sendable {
    private let handlers = Lock<[String: InMemoryTransport.Handler]>([:])
    private let count = Lock(0)

    func handler(for origin: HTTP.Origin) -> InMemoryTransport.Handler? { handlers.withLock { $0[origin.host] } }

    func register(_ host: String, _ handler: @escaping InMemoryTransport.Handler) {
        handlers.withLock { $0[host] = handler }
    }

    func remove(_ host: String) { _ = handlers.withLock { $0.removeValue(forKey: host) } }

    /// A server of a check: it answers with the bytes of a reply, read as a response.
    func serve(_ answer: @escaping @Sendable (ReceivedRequest) throws -> Reply) -> ConformancePeer {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let host = "peer\(number).test"
        let received = Lock<[ReceivedRequest]>([])
        register(host) { request in
            let arrived = ReceivedRequest(request, host: host)
            received.withLock { $0.append(arrived) }
            return try HTTP.Response.read(try answer(arrived), for: request)
        }
        return ConformancePeer(
            url: { "http://\(host)\($0)" },
            requests: { received.withLock { $0 } },
            owner: Registration(self, host)
        )
    }

    private final class Registration: Sendable {
        private let hosts: InMemoryHosts
        private let host: String

        init(_ hosts: InMemoryHosts, _ host: String) { (self.hosts, self.host) = (hosts, host) }

        deinit { hosts.remove(host) }
    }
}

extension ReceivedRequest {
    /// A request as it would arrive: with a Host, and with the length of its body.
    fileprivate init(_ request: HTTP.Request, host: String) {
        var body = Data()
        if case .bytes(let data) = request.body { body = data }
        var headers = request.headers.map { (name: $0.name.rawValue, value: $0.value) }
        if !request.headers.contains(.host) { headers.insert(("Host", host), at: 0) }
        let method = request.method
        if !body.isEmpty || method == .POST || method == .PUT || method == .PATCH,
            !request.headers.contains(.contentLength)
        {
            headers.append(("Content-Length", String(body.count)))
        }
        let text = request.url.absoluteString
        let afterScheme = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
        let target = afterScheme.firstIndex { $0 == "/" || $0 == "?" }.map { String(afterScheme[$0...]) } ?? "/"
        self.init(
            method: method.rawValue,
            target: target.hasPrefix("/") ? target : "/" + target,
            headers: headers,
            body: Array(body)
        )
    }
}

extension HTTP.Response {
    /// A reply needs a network: steps on a connection, or bytes that are no response.
    private struct NeedsNetwork: Error {}

    fileprivate static func read(_ reply: Reply, for request: HTTP.Request) throws -> (HTTP.Response, Data) {
        guard reply.steps.isEmpty, let line = reply.head.firstIndex(of: 10) else { throw NeedsNetwork() }
        let words = String(decoding: reply.head[..<line], as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard words.count > 1, let status = Int(words[1].prefix { $0.isNumber }) else { throw NeedsNetwork() }
        let headers = HTTP.Headers(lines: Array(reply.head[(line + 1)...]))
        let response = HTTP.Response(status: .init(status), headers: headers, url: request.url)
        if request.method == .HEAD { return (response, Data()) }
        let isChunked = headers[.transferEncoding] == "chunked"
        return (response, isChunked ? try unchunked(reply.body[...]) : Data(reply.body))
    }

    private static func unchunked(_ bytes: ArraySlice<UInt8>) throws -> Data {
        var (rest, content) = (bytes, Data())
        while let line = rest.firstIndex(of: 13),
            let size = Int(String(decoding: rest[..<line], as: UTF8.self), radix: 16)
        {
            guard size > 0 else { return content }
            content += rest[(line + 2)...].prefix(size)
            rest = rest[(line + 2)...].dropFirst(size + 2)
        }
        throw NeedsNetwork()
    }
}

@Suite("A transport in memory", .serialized)
struct InMemoryConformance {
    static let hosts = InMemoryHosts()
    static let subject = ConformanceSubject(
        name: "InMemoryStack",
        capabilities: HTTP.Capabilities(
            unsupported: InMemoryTransport.lacking.merging([.network: "Hosts are closures of this process."]) {
                first,
                _ in first
            }
        ),
        make: { try InMemoryStack($0, handlers: hosts.handler) },
        serve: hosts.serve
    )
    static let claimed = ConformanceCheck.chosen.filter(subject.claims)
    static let report = ConformanceReport(name: "InMemoryStack", checks: claimed)

    @Test(
        "keeps a promise it claims",
        .timeLimit(.minutes(1)),
        arguments: claimed
    )
    func keeps(_ check: ConformanceCheck) async throws { try await Self.subject.prove(check, noting: Self.report) }

    @Test("counts an unclaimed promise as neither kept, broken nor a known issue")
    func unclaimed() async throws {
        let check = ConformanceCheck("Everything is offered") { _ in throw UnclaimedPromise("It offers nothing.") }
        let issue = KnownIssue(check.name, reason: "Unknown.", reference: "none")
        for issue in [nil, issue] {
            let report = ConformanceReport(name: "Example", checks: [check])
            try await Self.subject.prove(check, noting: report, despite: issue)
            #expect(report.summary?.contains("0 promises kept, 0 broken, 0 known issues, 1 not claimed") == true)
            #expect(report.summary?.contains("not claimed: Everything is offered: It offers nothing.") == true)
        }
    }

    @Test("claims many checks of the suite, and explains the others")
    func claims() {
        #expect(ConformanceCheck.all.count(where: Self.subject.claims) >= 40)
        #expect(Set(ConformanceCheck.all.map(\.name)).count == ConformanceCheck.all.count, "names are unique")
        let longNames = ConformanceCheck.all.map(\.name).filter { $0.split(separator: " ").count > 12 }
        #expect(longNames == [], "names have at most 12 words")
    }
}
