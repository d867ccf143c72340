import FoundationEssentials
import Testing

@testable import NetworkStack

/// The checks of both stacks for a received head.
@Suite("A received head")
struct HeadJudgeTests {
    @Test(
        "A status line has HTTP/1.0, HTTP/1.1 or a later whole version, and three digits",
        arguments: [
            ("HTTP/1.1 200 OK", 200), ("HTTP/1.0 404 Not Found", 404), ("HTTP/1.1 301", 301), ("HTTP/1.1 200 ", 200),
            ("HTTP/1.1   999 x", 999), ("HTTP/2 200 ", 200), ("HTTP/2 204", 204), ("HTTP/2.0 200 OK", 200),
            ("HTTP/-1.1 200 OK", nil), ("HTTP/1.2 200 OK", nil), ("HTTP/1.9 200 OK", nil), ("HTTP/0.9 200 OK", nil),
            ("HTTP/3.7 200 OK", nil), ("HTTP/2.1 200 OK", nil), ("HTTP/1 200 OK", nil), ("HTTP/1. 200 OK", nil),
            ("HTTP/1.11 200 OK", nil), ("HTTP/11.1 200 OK", nil), ("HTTP/:1.1 200", nil), ("HTTP/\t1.1 200 OK", nil),
            ("HTTP/ 1.1 200 OK", nil), ("HTTP/1.1\t200 OK", nil), ("HTTP/1.1 200\tOK", nil), ("HTTP/1.1 200OK", nil),
            ("HTTP/1.1 2000 OK", nil), ("HTTP/1.1 20 OK", nil), ("HTTP/1.1 099 OK", nil), ("HTTP/1.1 +20 OK", nil),
            ("HTTP/1.1 OK", nil), ("HTTP/1.1200 OK", nil), ("http/1.1 200 OK", nil), ("HTTP/", nil), ("", nil),
            ("ICY 200 OK", nil), ("HTTP/x.1 200 OK", nil), ("HTTP/1.x 200 OK", nil), ("HTTP 200 OK", nil),
        ] as [(String, Int?)]
    )
    func statusLines(text: String, status: Int?) {
        for end in ["\r\n", "\n", ""] {
            #expect(StatusLine(Array((text + end).utf8).span)?.status?.rawValue == status, "\(text)")
        }
    }

    @Test(
        "A server's timeout of unused connections is read anywhere in Keep-Alive",
        arguments: [
            ("timeout=5", 5), ("timeout=5, max=100", 5), ("max=100,timeout=15", 15), ("Timeout = 7", 7),
            ("timeout=0", 0), ("timeout=\"4\"", 4), (", ,timeout=3", 3), ("timeout=99999999999999999999", 86_400),
            ("", nil), ("max=3", nil), ("timeout", nil), ("timeout=", nil), ("timeout=-1", nil), ("timeout=1.5", nil),
            ("timeout=x", nil), ("xtimeout=5", nil), ("5", nil), ("a=\"timeout=5\"", nil),
        ] as [(String, Int?)]
    )
    func keepAlive(value: String, seconds: Int?) {
        var judge = HeadJudge()
        #expect(judge.read(Array("Keep-Alive: \(value)\r\n".utf8).span) == nil)
        #expect(judge.keepAlive == seconds)
    }

    @Test("A head leaves nothing to the next")
    func beginning() {
        func text(_ judge: HeadJudge) -> String {
            var text = ""
            dump(judge, to: &text)
            return text
        }
        var judge = HeadJudge()
        judge.begin(.http2)
        let begun = text(judge)
        let lines = [
            "Content-Length: 5", "Keep-Alive: timeout=5", "Transfer-Encoding: chunked", "Content-Encoding: gzip",
        ]
        for last in lines {
            judge.begin(.http1_1)
            for line in lines.filter({ $0 != last }) + [last] { #expect(judge.read(Array(line.utf8).span) == nil) }
            #expect(judge.isChunked && judge.keepAlive == 5 && judge.contentCodings == ["gzip"])
            judge.begin(.http2)
            #expect(text(judge) == begun)
        }
    }

    @Test("A received field has a token as name, and spaces for line ends and NULs")
    func receivedFields() {
        let lines = "A: 1\rB: 2\r\n: x\r\n folded\r\na b: c\r\nC: \rd\0e\u{1B}[31m \r\nD : e\tf\r\nNone\r\n"
        let expected: HTTP.Headers = ["A": "1 B: 2", "C": "d e\u{1B}[31m", "D": "e\tf"]
        let wire = HTTP.Headers(lines: Array(lines.utf8))
        #expect(wire == expected)
        for name in ["", "a b", "None"] as [HTTP.HeaderName] { #expect(!wire.contains(name)) }
        let received = HTTP.Headers(received: [
            .init(name: "A", value: "1\rB: 2"), .init(name: "", value: "x"), .init(name: "a b", value: "c"),
            .init(name: "C", value: "\rd\0e\u{1B}[31m\n"), .init(name: "D", value: "e\tf"),
        ])
        #expect(received == expected)
    }

    @Test("A response has no length if its body was decoded")
    func contentLength() throws {
        let url = try #require(URL(string: "http://a.test/"))
        var response = HTTP.Response(status: .ok, headers: [.contentLength: "5"], url: url)
        #expect(response.contentLength == 5)
        response.decodedFrom = ["gzip"]
        #expect(response.contentLength == nil)
        #expect(response.headers[.contentLength] == "5")
    }
}
