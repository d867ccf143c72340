import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Responses before the final one, fields after it, and status lines of every shape.
    static let interimStatuses: [ConformanceCheck] = [
        interim("A 100", "HTTP/1.1 100 Continue\r\n\r\n"),
        interim("A 102", "HTTP/1.1 102 Processing\r\n\r\n"),
        interim(
            "A 103 with headers",
            "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Interim: yes\r\n\r\n"
        ),
        interim(
            "A series of informational responses",
            "HTTP/1.1 100 Continue\r\n\r\n"
                + String(repeating: "HTTP/1.1 103 Early Hints\r\nX-Interim: yes\r\n\r\n", count: 5)
                + "HTTP/1.1 199 Odd\r\n\r\n"
        ),
        ConformanceCheck("An informational response does not empty the response to HEAD", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead,
                    .send(
                        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Final: yes\r\n\r\n"
                    ),
                    .waitForClose,
                ]
            }
            let fetched = try await subject.client().success(HTTP.Request(method: .HEAD, url: server.url()))
            try expectEqual(fetched.response.status, .ok, "the status")
            try expectEqual(fetched.response.headers["X-Final"], "yes", "X-Final")
        },
        ConformanceCheck(
            "An unrequested 101 is an unsuccessful status and ends the connection",
            needs: [.network]
        ) { subject in
            for last in [ScriptedServer.Step.close, .waitForClose] {
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead,
                        .send(
                            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\u{2}hi"
                        ),
                        last,
                    ]
                }
                let error = try await subject.client().failure(HTTP.Request(url: server.url()))
                guard case .http(.switchingProtocols, _, let response) = error else {
                    throw ConformanceFailure("Saw \(error)")
                }
                try expectEqual(response.headers["Upgrade"], "websocket", "a field")
                try await server.waitUntil { $0.open == 0 }
            }
        },
        ConformanceCheck("A connection that closes after an informational response is a failure", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in [.receiveHead, .send("HTTP/1.1 103 Early Hints\r\n\r\n"), .close] }
            _ = try await subject.client().breakdown(HTTP.Request(url: server.url()))
        },
        ConformanceCheck("Trailers are delivered apart from the headers", needs: [.network, .trailers]) { subject in
            let peer = try subject.serve { _ in
                .chunked(
                    ["hello ", "world"],
                    headers: [("Trailer", "X-Checksum"), ("X-Head", "1")],
                    trailers: [("X-Checksum", "abc"), ("X-More", "x"), ("X-More", "y")]
                )
            }
            let client = try subject.client()
            for _ in 1...2 {
                let fetched = try await client.get(peer.url("/"))
                try expectBytes(fetched.value, "hello world".utf8)
                let trailers = fetched.response.trailers
                try expectEqual(trailers?["x-checksum"], "abc", "X-Checksum")
                try expectEqual(trailers?.values(for: "X-More"), ["x", "y"], "X-More")
                try expectEqual(trailers?["X-Head"], nil, "a header among the trailers")
                try expectEqual(fetched.response.headers["X-Checksum"], nil, "a trailer among the headers")
            }
            try expectEqual(peer.requests().map(\.connectionIndex), [0, 0], "the connections")
        },
        ConformanceCheck("An ended stream has its trailers", needs: [.network, .trailers]) { subject in
            let peer = try subject.serve { _ in .chunked(["hello"], trailers: [("X-Checksum", "abc")]) }
            let opened = try await subject.streaming().open(peer.url("/"))
            try expectBytes(try await bounded(.seconds(20)) { try await opened.value.collect() }, Data("hello".utf8))
            try expectEqual(opened.value.trailers?["X-Checksum"], "abc", "X-Checksum")
        },
        ConformanceCheck("A response without trailers has none", needs: [.network]) { subject in
            let peer = try subject.serve { _ in .chunked(["hello"]) }
            let fetched = try await subject.client().get(peer.url("/"))
            try expect(
                fetched.response.trailers?.isEmpty ?? true,
                "trailers: \(String(describing: fetched.response.trailers))"
            )
        },
    ]

    private static func interim(_ what: String, _ text: String) -> ConformanceCheck {
        ConformanceCheck("\(what) is skipped before the final response", needs: [.network]) { subject in
            let peer = try subject.serve { _ in
                .raw(text + "HTTP/1.1 201 Created\r\nX-Final: yes\r\nContent-Length: 4\r\n\r\ndone")
            }
            let client = try subject.client()
            for method in [HTTP.Method.GET, .POST] {
                let fetched = try await client.success(HTTP.Request(method: method, url: peer.url("/")))
                try expectEqual(fetched.response.status, .created, "the status")
                try expectEqual(fetched.response.headers["X-Final"], "yes", "X-Final")
                try expectEqual(fetched.response.headers["X-Interim"], nil, "a header of the informational response")
                try expectBytes(fetched.value, "done".utf8)
            }
        }
    }

    static let statusLines: [ConformanceCheck] = [
        statusLine("A status line without a reason phrase", "HTTP/1.1 200 "),
        statusLine(
            "A status line without a reason phrase and its space",
            "HTTP/1.1 200",
            needs: [.network, .nonconformingHeads]
        ),
        statusLine("A long reason phrase", "HTTP/1.1 200 \(String(repeating: "All is well. ", count: 300))"),
        statusLine("A reason phrase that looks like a header", "HTTP/1.1 200 Location: http://elsewhere.test/"),
        statusLine("A reason phrase that looks like another status", "HTTP/1.1 200 404 HTTP/1.1 500"),
        statusLine("A reason phrase beyond ASCII", "HTTP/1.1 200 Schön ✓", needs: [.network, .nonconformingHeads]),
        statusLine("A version 1.0 in the status line", "HTTP/1.0 200 OK"),
        ConformanceCheck("A lower-case status line is no response", needs: [.network, .strictReplies]) {
            subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("http/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"), .close]
            }
            try await subject.client().outcome(of: .init(url: server.url())).expectBadResponse()
        },
        ConformanceCheck(
            "A transfer coding of a missing body is ignored",
            needs: [.network]
        ) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), .close]
            }
            let error = try await subject.client().unsuccessful(.init(url: server.url()))
            try expectEqual(error.status, .notModified, "the status")
        },
    ]

    private static func statusLine(
        _ what: String,
        _ line: String,
        needs: Set<HTTP.Capability> = [.network]
    ) -> ConformanceCheck {
        ConformanceCheck("\(what) is read", needs: needs) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("\(line)\r\nContent-Length: 4\r\n\r\ndone"), .close]
            }
            let fetched = try await subject.client().get(server.url())
            try expectEqual(fetched.response.status, .ok, "the status")
            try expectBytes(fetched.value, "done".utf8)
        }
    }

    static let challenges: [ConformanceCheck] =
        [
            ("Basic", #"Basic realm="r", charset="UTF-8""#),
            ("Digest", #"Digest realm="r", nonce="n0nce", qop="auth", algorithm=MD5"#),
            ("Bearer", #"Bearer realm="r", error="invalid_token""#),
            ("Negotiate", "Negotiate"), ("NTLM", "NTLM"), ("unknown", "Custom a=b"),
            ("Basic and Bearer", #"Basic realm="a", Bearer realm="b""#),
        ].map { name, challenge in
            ConformanceCheck("A \(name) challenge ends the fetch as a 401") { subject in
                let peer = try subject.serve { _ in .status(401, "who?", headers: [("WWW-Authenticate", challenge)]) }
                let client = try subject.client()
                for headers: HTTP.Headers in [[:], [.authorization: "Bearer stale"]] {
                    let (status, _, response) = try await client.unsuccessful(
                        HTTP.Request(url: peer.url("/"), headers: headers)
                    )
                    try expectEqual(status, .unauthorized, "the status")
                    try expectEqual(response.headers[.wwwAuthenticate], challenge, "the challenge")
                }
                try expectEqual(peer.requests().count, 2, "requests")
            }
        }
        + [
            ConformanceCheck("A 401 to a POST delivers its body to error decoding") { subject in
                let peer = try subject.serve { _ in
                    .status(401, "who?", headers: [("WWW-Authenticate", #"Basic realm="r""#)])
                }
                let seen = Lock<Data?>(nil)
                let decoding = BoundedClient.ErrorDecoding { payload, _ in
                    seen.withLock { $0 = payload }
                    return nil
                }
                let request = try HTTP.Request(method: .POST, url: peer.url("/"), body: .bytes(patternBytes(1000)))
                let (status, _, _) = try await subject.client().unsuccessful(request, decoding: decoding)
                try expectEqual(status, .unauthorized, "the status")
                try expectBytes(seen.withLock { $0 } ?? Data(), "who?".utf8)
                try expectEqual(peer.onlyRequest().bodyCount, 1000, "bytes received")
            },
            ConformanceCheck("An origin's 407 ends the fetch as a 407") { subject in
                let peer = try subject.serve { _ in
                    .status(407, "who?", headers: [("Proxy-Authenticate", #"Basic realm="r""#)])
                }
                let (status, _, _) = try await subject.client().unsuccessful(HTTP.Request(url: peer.url("/")))
                try expectEqual(status, .proxyAuthenticationRequired, "the status")
                try expectEqual(peer.requests().count, 1, "requests")
            },
        ]
}
