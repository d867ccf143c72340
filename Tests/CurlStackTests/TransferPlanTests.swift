import Testing

@testable import CurlStack
@testable import NetworkStack

@Suite("The plan of a hop")
struct TransferPlanTests {
    @Test(
        "marks the target that libcurl might rewrite, byte by byte",
        arguments: [
            ("http://h.test/a%2Fb?c=%20", nil, nil),
            ("http://h.test/a%2fb?c=%C3%bc#d", "/a%2fb?c=%C3%bc", "http://h.test/a%2fb?c=%C3%bc"),
            ("http://h.test:81/a?#", "/a?", "http://h.test:81/a?"), ("http://h.test?", "/?", "http://h.test/?"),
            ("http://h.test/#a%2fb?", nil, nil), ("http://h.test/a?b=%2", nil, nil), ("http://h.test/a%", nil, nil),
            ("http://h.test/a/../b?c=/../%2f", "/a/../b?c=/../%2f", "http://h.test/a/../b?c=/../%2f"),
            ("http://h.test/./a//b/..?", "/./a//b/..?", "http://h.test/./a//b/..?"),
            ("http://h.test/../..?", "/../..?", "http://h.test/../..?"),
            ("http://h.test/a/.b/..c/...?", "/a/.b/..c/...?", "http://h.test/a/.b/..c/...?"),
            ("http://h.test/a/.?", "/a/.?", "http://h.test/a/.?"),
            ("http://h.test/a/%2e%2e/b", "/a/%2e%2e/b", "http://h.test/a/%2e%2e/b"),
            ("http://h.test/a/%2E%2E/b", "/a/%2E%2E/b", "http://h.test/a/%2E%2E/b"),
        ] as [(String, String?, String?)]
    )
    func targets(url: String, direct: String?, forwarded: String?) {
        #expect(TransferPlan.target(of: url, isForwarded: false) == direct)
        #expect(TransferPlan.target(of: url, isForwarded: true) == forwarded)
    }

    @Test(
        "reads in large pieces if streamed or from a fast host, never over HTTP/2",
        arguments: [
            ("http://h.test/", false, false, 16_384), ("http://h.test/", false, true, 131_072),
            ("http://h.test/", true, false, 131_072), ("https://h.test/", true, true, 16_384),
        ]
    )
    func pieces(url: String, streams: Bool, sendsMuch: Bool, size: Int) throws {
        let request = try HTTP.Request(url: url)
        let origin = try HTTP.Origin(of: request.url)
        let hop = HTTPHop(
            request: request,
            origin: origin,
            urlText: url,
            options: Shared(HTTP.Options()),
            trust: .ordinary,
            source: nil,
            allowsWithholding: !streams
        )
        let plan = TransferPlan(hop, userAgent: nil, contentCodings: "")
        #expect(plan.bufferSize(sendsMuch: sendsMuch) == size)
    }

    @Test("makes a longer timeout of more seconds, up to 68 years")
    func longTimeouts() {
        let times = [0, 1, 1 << 31 - 1, 1 << 31, Int64.max].map { TransferPlan.milliseconds(.seconds($0)) }
        #expect(times == [0, 1000, (1 << 31 - 1) * 1000, 1000 << 31, 1000 << 31])
    }

    @Test(
        "limits one address to the shortest timeout of the whole, so that there is time for the next",
        arguments: [
            (60, nil, nil, 90_500), (1, nil, nil, 2000), (60, 2, nil, 2500), (60, nil, 2, 2500), (60, 3, 2, 2500),
            (60, 2, 3, 2500), (1, 30, 30, 2000),
        ] as [(Int, Int?, Int?, Int)]
    )
    func connectBound(idle: Int, attempt: Int?, total: Int?, bound: Int) {
        var timeouts = HTTP.Options.Timeouts()
        timeouts.idle = .seconds(idle)
        timeouts.attempt = attempt.map { .seconds($0) }
        timeouts.total = total.map { .seconds($0) }
        #expect(timeouts.connectBound == bound)
    }
}
