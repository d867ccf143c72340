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
        var queue = ConnectionQueue(limits: .init())
        let line = queue.line(of: .init(origin: origin, version: .automatic))
        line.habits.sendsMuch = sendsMuch
        let plan = TransferPlan(hop, userAgent: nil, contentCodings: "")
        #expect(plan.bufferSize(for: line) == size)
    }
}
