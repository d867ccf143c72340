import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Response fields as every stack delivers them.
    static let receivedHeaders: [ConformanceCheck] = [
        ConformanceCheck("Response headers are found in any case") { subject in
            let response = try await responds([("X-MiXeD", "value"), ("content-TYPE", "text/x-test")], on: subject)
            try expectEqual(response.headers["x-mixed"], "value", "X-Mixed")
            try expectEqual(response.headers.values(for: "X-MIXED"), ["value"], "X-Mixed")
            try expectEqual(response.headers[.contentType], "text/x-test", "Content-Type")
            try expect(!response.headers.contains("X-Absent"), "The response has a header that was not sent")
        },
        ConformanceCheck("A response header without a value is delivered without one") { subject in
            let response = try await responds([("X-Empty", ""), ("X-After", "here")], on: subject)
            try expectEqual(response.headers.values(for: "X-Empty"), [""], "X-Empty")
            try expectEqual(response.headers["X-After"], "here", "X-After")
        },
        ConformanceCheck("Trailing white space is not part of a response header's value", needs: [.network]) {
            subject in
            let peer = try subject.serve { request in
                request.path.hasSuffix("/next") ? .ok("done") : .status(302, headers: [("Location", "/next \t ")])
            }
            _ = try await subject.client().get(peer.url("/"))
            let response = try await responds([("X-Blank", "va lue \t "), ("X-After", "here")], on: subject)
            try expectEqual(response.headers["X-Blank"], "va lue", "X-Blank")
        },
        ConformanceCheck("The values of a repeated response header are joined on request") { subject in
            let response = try await responds([("X-Many", "a"), ("X-Many", "b"), ("x-many", "c")], on: subject)
            try expectEqual(response.headers["X-Many"], "a, b, c", "X-Many")
        },
        ConformanceCheck("Two Set-Cookie lines stay apart", needs: [.headerOrder]) { subject in
            let cookies = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2; Path=/"]
            let response = try await responds(cookies.map { ("Set-Cookie", $0) }, on: subject)
            try expectEqual(response.headers.values(for: .setCookie), cookies, "Set-Cookie")
        },
        ConformanceCheck(
            "Response header lines keep their order and case",
            needs: [.headerOrder]
        ) {
            let lines = [("X-B", "1"), ("x-a", "2"), ("X-b", "3"), ("X-C", "4"), ("X-B", "5")]
            let received = try await responds(lines, on: $0).headers.filter {
                $0.name.rawValue.lowercased().hasPrefix("x-")
            }
            try expectEqual(received.map(\.name.rawValue), lines.map(\.0), "the names")
            try expectEqual(received.map(\.value), lines.map(\.1), "the values")
        },
        ConformanceCheck("A response header beyond ASCII is read as UTF-8") { subject in
            let response = try await responds([("X-Text", "grüße ✓")], on: subject)
            try expectEqual(response.headers["X-Text"], "grüße ✓", "X-Text")
        },
        ConformanceCheck("A response header value of 64 KiB is delivered whole") { subject in
            let text = String(repeating: "0123456789abcdef", count: 4096)
            let response = try await responds([("X-Long", text)], on: subject)
            try expect(response.headers["X-Long"] == text, "The value differs")
        },
        ConformanceCheck("Five hundred response headers are delivered") { subject in
            let lines = (0..<500).map { (name: "X-Number-\($0)", value: "\($0)") }
            // Without a head limit, a library may have a lower one.
            if !subject.capabilities.supports(.headLimit) {
                let peer = try subject.serve { _ in .ok("done", headers: lines) }
                switch try await subject.client().outcome(of: HTTP.Request(url: peer.url("/"))) {
                case .failure(.headTooLarge), .failure(.tooManyFields): return
                default: break
                }
            }
            let response = try await responds(lines, on: subject)
            let received = Dictionary(response.headers.map { ($0.name, $0.value) }) { first, _ in first }
            for (name, value) in lines { try expectEqual(received[HTTP.HeaderName(name)], value, name) }
        },
        ConformanceCheck("The response names the requested URL") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let url = peer.url("/some/path?and=query")
            let response = try await subject.client().get(url).response
            try expectEqual(response.url.absoluteString, url, "the URL")
            try expectEqual(response.redirects, [], "redirects")
            try expectEqual(response.version, .http1_1, "the version")
            try expectEqual(response.metrics.hopCount, 1, "hops")
        },
    ]

    /// Heads that violate the rules, but that other clients accept.
    static let lenientHeads: [ConformanceCheck] = [
        bent("A header without a space after the colon", "X-Bent:value", is: "value"),
        bent("A header with white space around its value", "X-Bent: \t value \t ", is: "value"),
        bent("A folded header", "X-Bent: value\r\n  folded\r\n\tagain", is: "value folded again"),
        bent("A folded header without a value on its first line", "X-Bent:\r\n value", is: "value"),
        bent("A header in Latin-1", bytes: Array("X-Bent: caf".utf8) + [0xE9], is: "café"),
        bent("A header with a tab inside", "X-Bent: a\tb", is: "a\tb"),
        bent("A header with colons in its value", "X-Bent: a:b::c", is: "a:b::c"),
        bent("A header name with every odd token character", "X!#$%&'*+-.^_`|~: x\r\nX-Bent: value", is: "value"),
        ConformanceCheck("Lines that end in a bare line feed are read", needs: [.network, .nonconformingHeads]) {
            subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\nX-Bent: value\nContent-Length: 4\n\ndone"), .close]
            }
            let fetched = try await subject.client().get(server.url())
            try expectEqual(fetched.response.headers["X-Bent"], "value", "X-Bent")
            try expectBytes(fetched.value, "done".utf8)
        },
    ]

    private static func bent(_ what: String, _ line: String, is value: String) -> ConformanceCheck {
        bent(what, bytes: Array(line.utf8), is: value)
    }

    private static func bent(_ what: String, bytes: [UInt8], is value: String) -> ConformanceCheck {
        ConformanceCheck("\(what) is read", needs: [.network, .nonconformingHeads]) { subject in
            let head = Array("HTTP/1.1 200 OK\r\n".utf8) + bytes + Array("\r\nContent-Length: 4\r\n\r\n".utf8)
            let peer = try subject.serve { _ in Reply(head: head, body: Array("done".utf8)) }
            let fetched = try await subject.client().get(peer.url("/"))
            try expectEqual(fetched.response.headers["X-Bent"], value, "X-Bent")
            try expectBytes(fetched.value, "done".utf8)
        }
    }

    private static func responds(_ lines: [(name: String, value: String)], on subject: ConformanceSubject) async throws
        -> HTTP.Response
    {
        let peer = try subject.serve { _ in .ok("done", headers: lines) }
        let fetched = try await subject.client().get(peer.url("/"))
        try expectBytes(fetched.value, "done".utf8)
        return fetched.response
    }
}
