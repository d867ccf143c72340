import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Header fields arrive as they were written.
    static let headers: [ConformanceCheck] = [
        ConformanceCheck("Header lines arrive in order, with repeats kept apart", needs: [.headerOrder]) { subject in
            let sent = [("X-One", "1"), ("X-Two", "2"), ("x-one", "3"), ("X-Three", "4"), ("X-One", "1")]
            let request = try await receives(
                HTTP.Headers(sent.map { .init(name: .init($0.0), value: $0.1) }),
                on: subject
            )
            let received = request.headers.filter { $0.name.lowercased().hasPrefix("x-") }
            try expectEqual(received.map(\.name), sent.map(\.0), "the names")
            try expectEqual(received.map(\.value), sent.map(\.1), "the values")
        },
        ConformanceCheck("Every value of a repeated header arrives") { subject in
            var headers = HTTP.Headers()
            for value in ["a", "b", "c"] { headers.append(value, for: "X-Many") }
            let values = try await receives(headers, on: subject).values(of: "X-Many")
            try expectEqual(values.joined(separator: ",").filter { $0 != " " }, "a,b,c", "the values")
        },
        ConformanceCheck("Header names arrive in the case they were written in") { subject in
            let request = try await receives(["x-lOwEr-UPPER": "1", "ETAG": "2", "accept": "text/plain"], on: subject)
            for name in ["x-lOwEr-UPPER", "ETAG", "accept"] {
                try expectEqual(request.headers.filter { $0.name == name }.count, 1, "lines named \(name)")
                try expectEqual(request.values(of: name).count, 1, "lines named \(name) in any case")
            }
        },
        ConformanceCheck("A header without a value arrives without one") { subject in
            let request = try await receives(["X-Empty": "", "X-After": "here"], on: subject)
            try expectEqual(request.values(of: "X-Empty"), [""], "X-Empty")
            try expectEqual(request.values(of: "X-After"), ["here"], "X-After")
        },
        ConformanceCheck("A header value beyond ASCII arrives in UTF-8") { subject in
            let request = try await receives(["X-Text": "grüße ✓ 日本"], on: subject)
            try expect(request.rawHead.contains("grüße ✓ 日本".utf8), "The value is \(request["X-Text"] ?? "not there")")
        },
        ConformanceCheck("A header value with every printable byte arrives as it was") { subject in
            let text = String(decoding: UInt8(ascii: "!")...UInt8(ascii: "~"), as: UTF8.self) + " \t inside ;, \"x\\y\""
            try expectEqual(try await receives(["X-Text": text], on: subject)["X-Text"], text, "the value")
        },
        ConformanceCheck("A header value of 64 KiB arrives whole") { subject in
            let text = String(repeating: "0123456789abcdef", count: 4096)
            try expect(try await receives(["X-Long": text], on: subject)["X-Long"] == text, "The value differs")
        },
        ConformanceCheck("A hundred headers arrive") { subject in
            let headers = HTTP.Headers((0..<100).map { .init(name: .init("X-Number-\($0)"), value: "\($0)") })
            let request = try await receives(headers, on: subject)
            for number in 0..<100 { try expectEqual(request["X-Number-\(number)"], "\(number)", "X-Number-\(number)") }
        },
        ConformanceCheck("Headers of every well-known kind arrive once and unchanged") { subject in
            let headers: HTTP.Headers = [
                .accept: "application/json", .acceptLanguage: "de", .authorization: "Bearer t0ken",
                .cacheControl: "no-cache",
                .cookie: "a=b; c=d", .ifMatch: "\"x\"", .ifNoneMatch: "*", .range: "bytes=0-",
                .referer: "http://r.test/",
                .proxyAuthorization: "Basic eA==", .userAgent: "agent/1", .contentType: "text/plain",
            ]
            let request = try await receives(headers, on: subject)
            for field in headers {
                try expectEqual(request.values(of: field.name.rawValue), [field.value], "\(field.name)")
            }
        },
        ConformanceCheck("A correct Content-Length from the caller arrives once") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let request = try HTTP.Request(
                method: .POST,
                url: peer.url("/"),
                headers: [.contentLength: "5"],
                body: .bytes(Data("hello".utf8))
            )
            _ = try await subject.client().success(request)
            try expectEqual(peer.onlyRequest().values(of: "Content-Length"), ["5"], "Content-Length")
            try expectEqual(peer.onlyRequest().text, "hello", "the body")
        },
        ConformanceCheck("A caller's Content-Length is compared with the file's length", needs: [.network]) {
            subject in
            let peer = try subject.serve { _ in .ok("done") }
            let file = try ContentFile(Data("hello".utf8))
            func request(_ length: String) throws -> HTTP.Request {
                try HTTP.Request(
                    method: .PUT,
                    url: peer.url("/"),
                    headers: [.contentLength: length],
                    body: .file(path: file.path)
                )
            }
            for length in ["4", "6", "five"] { _ = try await subject.client().refusal(request(length)) }
            _ = try await subject.client().success(request("5"))
            try expectEqual(peer.onlyRequest().values(of: "Content-Length"), ["5"], "Content-Length")
            try expectEqual(peer.onlyRequest().text, "hello", "the body")
        },
        ConformanceCheck(
            "Dot segments are removed from a target, escaped or not",
            needs: [.network]
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client()
            for target in ["/a/./b/../c?x=/../%2F", "/a/./b/../c?x=/../%2f"] {
                _ = try await client.get(server.url(target))
            }
            let seen = server.requests.map { $0.target.lowercased() }
            try expectEqual(seen, Array(repeating: "/a/c?x=/../%2f", count: 2), "the targets")
        },
        ConformanceCheck("The target arrives as written, without the fragment") { subject in
            let target = "/a%2Fb/%7Euser/c%20d;v=1,2/@:!$&'()*+=?q=%C3%BC&r=a+b&s=%2B&empty=&flag&t=/?:@"
            let peer = try subject.serve { _ in .ok("done") }
            _ = try await subject.client().get(peer.url(target) + "#fragment?not=sent")
            let received = try peer.onlyRequest().target
            try expect(received.hasSuffix(target), "The target is \(received)")
        },
        ConformanceCheck("A URL without a path requests /", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client()
            _ = try await client.get("http://\(server.authority)")
            _ = try await client.get("http://\(server.authority)?only=query")
            try expectEqual(server.requests.map(\.target), ["/", "/?only=query"], "the targets")
        },
    ]

    /// Sends headers and returns the request as the server saw it.
    static func receives(
        _ headers: HTTP.Headers,
        on subject: ConformanceSubject,
        _ configure: (inout Network.Configuration) -> Void = { _ in }
    ) async throws -> ReceivedRequest {
        let peer = try subject.serve { _ in .ok("done") }
        _ = try await subject.client(configure).get(peer.url("/headers"), headers: headers)
        return try peer.onlyRequest()
    }
}
