import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Files of nginx.
    static let nginxFiles: [ConformanceCheck] =
        ["1k", "64k", "1m"].map { name in
            ConformanceCheck("nginx's file of \(name) arrives byte for byte", needs: [.network]) { subject in
                let nginx = try await RealServers.shared.nginx()
                let fetched = try await subject.client().get(nginx.httpURL("/bytes/\(name)"))
                try expectBytes(fetched.value, BytePattern.bytes(ServedFiles.sizes[name] ?? -1))
                try expectEqual(fetched.response.headers[.contentLength], "\(fetched.value.count)", "Content-Length")
            }
        }
        + [
            ConformanceCheck("nginx's empty file yields no data", needs: [.network]) { subject in
                let nginx = try await RealServers.shared.nginx()
                let request = try HTTP.Request(url: nginx.httpURL("/bytes/0"))
                guard case .noData(200, _) = try await subject.client().failure(request) else {
                    throw ConformanceFailure("expected no data")
                }
            },
            ConformanceCheck("nginx's compressed text is decoded", needs: [.network]) { subject in
                let nginx = try await RealServers.shared.nginx()
                let fetched = try await subject.client().get(nginx.httpURL("/gzip/text"))
                try expectBytes(fetched.value, ServedFiles.text.utf8)
            },
            ConformanceCheck("nginx answers a range request and a conditional request", needs: [.network]) { subject in
                let nginx = try await RealServers.shared.nginx()
                let client = try subject.client()
                let part = try await client.get(nginx.httpURL("/bytes/64k"), headers: [.range: "bytes=1000-1999"])
                try expectEqual(part.response.status, .partialContent, "the status")
                try expectBytes(part.value, BytePattern.bytes(1000, at: 1000))
                let request = try HTTP.Request(
                    url: nginx.httpURL("/bytes/64k"),
                    headers: [.ifNoneMatch: part.response.headers[.eTag] ?? ""]
                )
                try expectEqual(await client.unsuccessful(request).status, .notModified, "the status")
            },
            ConformanceCheck("A hundred parallel fetches from nginx each get their response", needs: [.network]) {
                subject in
                let nginx = try await RealServers.shared.nginx()
                let client = try subject.client()
                try await together(100) { number in
                    let fetched = try await client.get(
                        nginx.httpURL("/echo/\(number)"),
                        headers: ["X-Echo": "e\(number)"]
                    )
                    try expectBytes(fetched.value, "GET /echo/\(number) HTTP/1.1 e\(number)\n".utf8)
                }
            },
            ConformanceCheck("A PUT to nginx is stored byte for byte", needs: [.network]) { subject in
                let nginx = try await RealServers.shared.nginx()
                let content = patternBytes(3 << 20)
                var options = HTTP.Options()
                options.allowsEmptyBody = true
                let name = "put-\(UUID().uuidString)"
                let request = try HTTP.Request(
                    method: .PUT,
                    url: nginx.httpURL("/upload/\(name)"),
                    body: .bytes(content)
                )
                try expectEqual(
                    await subject.client().success(request, options: options).response.status,
                    .created,
                    "the status"
                )
                try expectBytes(nginx.uploadedFile(name) ?? [], content)
            },
        ]

    /// Requests as httpbin received them, and its special responses.
    static let httpbin: [ConformanceCheck] =
        [HTTP.Method.GET, .POST, .PUT, .PATCH, .DELETE].map { method in
            ConformanceCheck("httpbin receives \(method) as it was sent", needs: [.network]) { subject in
                let content = method == .GET ? "" : #"{"a":[1,"ü"]}"#
                let echo = try await anything(
                    subject,
                    "/anything/some%20path?b=2&a=1&a=3&e=%26",
                    method,
                    content,
                    ["X-Custom": "one, two"]
                )
                try expectEqual(echo.method, method.rawValue, "the method")
                try expect(echo.url.hasSuffix("/anything/some%20path?b=2&a=1&a=3&e=%26"), "The URL is \(echo.url)")
                try expectEqual(echo.args["a"], .several(["1", "3"]), "a repeated query item")
                try expectEqual(echo.args["b"], .one("2"), "a query item")
                try expectEqual(echo.args["e"], .one("&"), "an escaped query item")
                try expectEqual(echo.headers["X-Custom"], "one, two", "a header")
                try expectEqual(echo.data, content, "the body")
            }
        }
        + [
            ConformanceCheck("httpbin receives a form as it was sent", needs: [.network]) { subject in
                let echo = try await anything(
                    subject,
                    "/anything",
                    .POST,
                    "name=J%C3%BCrgen&age=7",
                    [.contentType: "application/x-www-form-urlencoded"]
                )
                try expectEqual(echo.form, ["name": .one("Jürgen"), "age": .one("7")], "the form")
            },
            ConformanceCheck("httpbin receives a stream of unknown length as it was sent", needs: [.network]) {
                subject in
                let httpbin = try await RealServers.shared.httpbin()
                let text = String(repeating: "streamed ", count: 5000)
                let body = HTTP.Body.stream(.init(AsyncStream(pieces(of: Data(text.utf8)))))
                let fetched = try await subject.client().success(
                    HTTP.Request(
                        method: .POST,
                        url: httpbin.url("/anything"),
                        headers: [.contentType: "text/plain"],
                        body: body
                    )
                )
                try expect(JSONDecoder().decode(Echo.self, from: fetched.value).data == text, "The body differs")
            },
            ConformanceCheck("httpbin's gzip, deflate and brotli are decoded", needs: [.network]) { subject in
                let httpbin = try await RealServers.shared.httpbin()
                let client = try subject.client()
                let offered = try await client.get(httpbin.url("/anything")).value
                let accepted = try JSONDecoder().decode(Echo.self, from: offered).headers["Accept-Encoding"] ?? ""
                for (path, flag, token) in [
                    ("/gzip", "gzipped", "gzip"), ("/deflate", "deflated", "deflate"), ("/brotli", "brotli", "br"),
                ]
                where accepted.contains(token) {
                    let text = String(decoding: try await client.get(httpbin.url(path)).value, as: UTF8.self)
                    try expect(
                        text.filter { $0 != " " }.contains("\"\(flag)\":true"),
                        "\(path) came as \(text.prefix(40))"
                    )
                }
                try expect(accepted.contains("gzip"), "The request does not accept gzip")
            },
            ConformanceCheck("httpbin's redirects are followed", needs: [.network]) { subject in
                let httpbin = try await RealServers.shared.httpbin()
                for path in ["/redirect/3", "/relative-redirect/3", "/absolute-redirect/3"] {
                    let response = try await subject.client().get(httpbin.url(path)).response
                    try expectEqual(response.redirects.map(\.status), [302, 302, 302], "the redirects")
                    try expectEqual(response.url.absoluteString, httpbin.url("/get"), "the URL of the response")
                }
            },
            ConformanceCheck("httpbin's teapot and challenge statuses are failures", needs: [.network]) { subject in
                let httpbin = try await RealServers.shared.httpbin()
                let client = try subject.client()
                for (path, status) in [
                    ("/status/418", 418), ("/basic-auth/user/pass", 401), ("/digest-auth/auth/u/p", 401),
                ] {
                    let request = try HTTP.Request(url: httpbin.url(path))
                    try expectEqual(await client.unsuccessful(request).status.rawValue, status, path)
                }
                let credentials = httpbin.url("/basic-auth/user/pass").replacing("http://", with: "http://user:pass@")
                try expectEqual(await client.get(credentials).response.status, .ok, "the status with credentials")
            },
            ConformanceCheck("httpbin's stream of five lines arrives whole", needs: [.network]) { subject in
                let httpbin = try await RealServers.shared.httpbin()
                let fetched = try await subject.client().get(httpbin.url("/stream/5"))
                try expectEqual(fetched.value.split(separator: UInt8(ascii: "\n")).count, 5, "lines")
            },
            ConformanceCheck("httpbin's bytes arrive whole, at once and in pieces", needs: [.network]) { subject in
                let httpbin = try await RealServers.shared.httpbin()
                let client = try subject.client()
                let atOnce = try await client.get(httpbin.url("/bytes/20000?seed=7")).value
                let inPieces = try await client.get(httpbin.url("/stream-bytes/20000?seed=7&chunk_size=100")).value
                try expectEqual(atOnce.count, 20_000, "bytes")
                try expectBytes(inPieces, atOnce)
            },
        ]

    private static func anything(
        _ subject: ConformanceSubject,
        _ path: String,
        _ method: HTTP.Method,
        _ content: String,
        _ headers: HTTP.Headers
    ) async throws -> Echo {
        let httpbin = try await RealServers.shared.httpbin()
        let body: HTTP.Body = content.isEmpty ? .none : .bytes(Data(content.utf8))
        let request = try HTTP.Request(method: method, url: httpbin.url(path), headers: headers, body: body)
        return try JSONDecoder().decode(Echo.self, from: await subject.client().success(request).value)
    }
}

/// The response of httpbin's `/anything`.
private struct Echo: Decodable {
    enum Value: Decodable, Equatable {
        case one(String)
        case several([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let values = try? container.decode([String].self) {
                self = .several(values)
            } else {
                self = .one(try container.decode(String.self))
            }
        }
    }

    let method: String
    let url: String
    let args: [String: Value]
    let form: [String: Value]
    let headers: [String: String]
    let data: String
}

/// Independent servers that are slow to start: started on first use, stopped with the process.
actor RealServers {
    static let shared = RealServers()

    private var nginxStart: Task<NginxServer, any Error>?
    private var httpbinStart: Task<HttpbinServer, any Error>?

    func nginx() async throws -> NginxServer {
        let start =
            nginxStart
            ?? Task {
                let server = try NginxServer()
                try await server.start()
                return server
            }
        nginxStart = start
        return try await start.value
    }

    func httpbin() async throws -> HttpbinServer {
        let start =
            httpbinStart
            ?? Task {
                let server = try HttpbinServer()
                try await server.start()
                return server
            }
        httpbinStart = start
        return try await start.value
    }
}
