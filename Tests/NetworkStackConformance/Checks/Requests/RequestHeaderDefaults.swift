import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The fields that a stack adds, and their precedence.
    static let ownHeaders: [ConformanceCheck] = [
        ConformanceCheck("The stack's user agent is sent") { subject in
            let request = try await receives([:], on: subject)
            try expectEqual(request.values(of: "User-Agent"), [Network.Configuration().userAgent ?? ""], "User-Agent")
            let other = try await receives([:], on: subject) { $0.userAgent = "other/2" }
            try expectEqual(other.values(of: "User-Agent"), ["other/2"], "User-Agent")
        },
        ConformanceCheck("A request's user agent replaces the stack's") { subject in
            let request = try await receives([.userAgent: "own/1"], on: subject)
            try expectEqual(request.values(of: "User-Agent"), ["own/1"], "User-Agent")
        },
        ConformanceCheck("Without a user agent, none is sent") { subject in
            let request = try await receives([:], on: subject) { $0.userAgent = nil }
            try expectEqual(request.values(of: "User-Agent"), [], "User-Agent")
        },
        ConformanceCheck("Accept defaults to any type", needs: [.network]) {
            subject in
            for (own, expected) in [([:], ["*/*"]), ([.accept: "text/html"], ["text/html"])]
                as [(HTTP.Headers, [String])]
            {
                try expectEqual(await receives(own, on: subject).values(of: "Accept"), expected, "Accept")
            }
        },
        ConformanceCheck("Without a default Accept, only a request's Accept is sent", needs: [.network]) { subject in
            for (own, expected) in [([:], []), ([.accept: "text/html"], ["text/html"]), (["X-Other": "1"], [])]
                as [(HTTP.Headers, [String])]
            {
                let request = try await receives(own, on: subject) { $0.sendsDefaultAccept = false }
                try expectEqual(request.values(of: "Accept"), expected, "Accept, with \(own)")
            }
        },
        ConformanceCheck("Host names the server, once", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            _ = try await subject.client().get(server.url())
            try expectEqual(server.requests.first?.values(of: "Host"), [server.authority], "Host")
        },
        ConformanceCheck("A request's Host replaces the default", needs: [.hostHeader]) { subject in
            let request = try await receives([.host: "other.test"], on: subject)
            try expectEqual(request.values(of: "Host"), ["other.test"], "Host")
        },
        ConformanceCheck("Accept-Encoding offers compression by default", needs: [.decompression]) { subject in
            let request = try await receives([:], on: subject)
            try expect((request["Accept-Encoding"] ?? "").contains("gzip"), "Accept-Encoding lacks gzip")
            try expectEqual(request.values(of: "Accept-Encoding").count, 1, "Accept-Encoding lines")
        },
        ConformanceCheck("Compression is not requested if it is turned off", needs: [.disablingDecompression]) {
            subject in
            let request = try await receives([:], on: subject) { $0.options.decompresses = false }
            try expectEqual(request.values(of: "Accept-Encoding"), [], "Accept-Encoding")
        },
        ConformanceCheck(
            "One request is sent as each resource's options require",
            needs: [.decompression, .disablingDecompression]
        ) {
            subject in
            let peer = try subject.serve { _ in .ok("done") }
            let (client, request) = try (subject.client(), HTTP.Request(url: peer.url("/")))
            var raw = HTTP.Options()
            raw.decompresses = false
            for options in [nil, nil, raw, nil] { _ = try await client.success(request, options: options) }
            let asksForCoding = peer.requests().map { !$0.values(of: "Accept-Encoding").isEmpty }
            try expectEqual(asksForCoding, [true, true, false, true], "whether compression is requested")
        },
        ConformanceCheck("A request's Accept-Encoding replaces the default") { subject in
            for value in ["identity", "br;q=1.0, gzip;q=0.5"] {
                let request = try await receives([.acceptEncoding: value], on: subject)
                try expectEqual(request.values(of: "Accept-Encoding"), [value], "Accept-Encoding")
            }
        },
        ConformanceCheck(
            "A TE field is listed in Connection",
            needs: [.network, .trailers],
            rests: [.rfc(9110, "10.1.4")]
        ) {
            subject in
            for (own, expected) in [(nil, "TE"), ("close", "close, TE"), ("TE", "TE")] {
                var headers: HTTP.Headers = [.te: "trailers"]
                headers[.connection] = own
                let request = try await receives(headers, on: subject)
                try expectEqual(request.values(of: "TE"), ["trailers"], "TE")
                try expectEqual(request.values(of: "Connection"), [expected], "Connection")
            }
        },
        ConformanceCheck("Connection: close is sent and honoured", needs: [.network]) { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            for _ in 1...2 { _ = try await client.get(peer.url("/"), headers: [.connection: "close"]) }
            for request in peer.requests() {
                try expectEqual(request.values(of: "Connection").map { $0.lowercased() }, ["close"], "Connection")
            }
            try expectEqual(peer.requests().map(\.connectionIndex), [0, 1], "the connections")
        },
        ConformanceCheck(
            "A request with Connection: close ends only its connection",
            needs: [.network],
            rests: [.rfc(9112, "9.6")]
        ) { subject in
            // The server would keep the connection.
            let server = try ScriptedServer { _ in
                [.repeat([.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")])]
            }
            let client = try subject.client()
            for closes in [false, true, false, false] {
                _ = try await client.get(server.url(), headers: closes ? [.connection: "close"] : [:])
            }
            try expectEqual(server.requests.map(\.connectionIndex), [0, 0, 1, 1], "the connections")
        },
        ConformanceCheck("A server's Connection: close is honoured", needs: [.network], rests: [.rfc(9112, "9.6")]) {
            subject in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"),
                ]
            }
            let client = try subject.client()
            for _ in 1...2 { try expectBytes(await client.get(server.url()).value, "ok".utf8) }
            try expectEqual(server.requests.map(\.connectionIndex), [0, 1], "the connections")
        },
        ConformanceCheck("A server's cookie is not sent back without a jar") { subject in
            let peer = try subject.serve { _ in .ok("done", headers: [("Set-Cookie", "session=1; Path=/")]) }
            let client = try subject.client()
            for _ in 1...2 { _ = try await client.get(peer.url("/")) }
            _ = try await client.get(peer.url("/"), headers: [.cookie: "own=2"])
            try expectEqual(peer.requests().flatMap { $0.values(of: "Cookie") }, ["own=2"], "Cookie")
        },
        ConformanceCheck("User info in a URL is sent only as Basic credentials") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let url = peer.url("/private?x=1").replacing(
                "http://",
                with: "http://us%40er:pa%20ss%3A@",
                maxReplacements: 1
            )
            let fetched = try await subject.client().get(url)
            let request = try peer.onlyRequest()
            let expected = "Basic " + Data("us@er:pa ss:".utf8).base64EncodedString()
            try expectEqual(request.values(of: "Authorization"), [expected], "Authorization")
            try expectEqual(fetched.response.url.absoluteString, peer.url("/private?x=1"), "the response's URL")
        },
        ConformanceCheck("A request's Authorization replaces the URL's user info") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let url = peer.url("/").replacing("http://", with: "http://user:secret@", maxReplacements: 1)
            _ = try await subject.client().get(url, headers: [.authorization: "Bearer own"])
            try expectEqual(peer.onlyRequest().values(of: "Authorization"), ["Bearer own"], "Authorization")
        },
    ]
}
