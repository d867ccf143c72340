import FoundationEssentials
import HTTPTypes
import NetworkStack
import NetworkStackHTTPTypes
import Testing

@Suite("Messages of swift-http-types")
struct HTTPTypesTests {
    private static let name = HTTPField.Name("X-Part")!

    private static func request(
        _ method: HTTPRequest.Method = .get,
        _ scheme: String? = "https",
        _ authority: String? = "example.com:8443",
        _ path: String? = "/a%20b?q=1&q=2",
        _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }

    private static func error(_ body: () throws -> Void) -> HTTPTypesConversionError? {
        do {
            try body()
            return nil
        } catch {
            return error as? HTTPTypesConversionError
        }
    }

    @Test("a request is the same after it was converted there and back")
    func requests() throws {
        var fields: HTTPFields = [Self.name: "1", .accept: "text/csv"]
        fields.append(HTTPField(name: Self.name, value: "2, é"))
        let request = Self.request(.init("QUERY")!, "https", "[::1]:8443", "/a%20b?q=1&q=2", fields)
        let converted = try HTTP.Request(request, body: .bytes(Data("x".utf8)))
        #expect(converted.method == "QUERY" && converted.body.length == 1)
        #expect(converted.url.absoluteString == "https://[::1]:8443/a%20b?q=1&q=2")
        #expect(converted.headers.map { "\($0.name)=\($0.value)" } == ["X-Part=1", "Accept=text/csv", "X-Part=2, é"])
        let back = try HTTPRequest(converted)
        #expect(back == request)
        #expect(back.headerFields.map(\.value) == ["1", "text/csv", "2, é"])
    }

    @Test("a URL without a path has the path of its root, and a fragment is left out")
    func paths() throws {
        for (url, path) in [("HTTP://a.test", "/"), ("http://a.test?q#f", "/?q"), ("http://a.test/x#/y?z", "/x")] {
            let request = try HTTPRequest(HTTP.Request(url: url))
            #expect([request.scheme, request.authority, request.path] == ["http", "a.test", path], "\(url)")
        }
    }

    @Test("a request without a target for http or https is refused, by its fault")
    func faults() throws {
        let faults: [(HTTPRequest, HTTPTypesConversionError)] = [
            (Self.request(.get, nil), .missing(":scheme")),
            (Self.request(.get, "https", nil), .missing(":authority")),
            (Self.request(.get, "https", ""), .missing(":authority")),
            (Self.request(.get, "https", "a.test", nil), .missing(":path")),
            (Self.request(.connect, nil, "a.test:443", nil), .missing(":scheme")),
            (Self.request(.get, "https", "a.test", "/", [.init("host")!: "b.test"]), .hostDiffers),
        ]
        for (request, fault) in faults { #expect(Self.error { _ = try HTTP.Request(request) } == fault) }
        var extended = Self.request(.connect)
        extended.extendedConnectProtocol = "websocket"
        #expect(Self.error { _ = try HTTP.Request(extended) } == .unsupported(":protocol"))
        let targets = [
            Self.request(.get, "ftp"), Self.request(.options, "https", "a.test", "*"),
            Self.request(.get, "https", "user:s3cret@a.test"), Self.request(.get, "https", "a.test/s3cret"),
            Self.request(.get, "https", "a.test", "s3cret"), Self.request(.get, "https", "a.test", "/#s3cret"),
            Self.request(.get, "https", "a.test:s3cret"), Self.request(.get, "https", "s3cret host"),
        ]
        for target in targets {
            let error = Self.error { _ = try HTTP.Request(target) }
            guard case .invalidTarget(let reason) = error else {
                Issue.record("\(target.debugDescription): \(error as Any)")
                continue
            }
            #expect(!reason.contains("s3cret") && error?.errorDescription == reason)
        }
        let secret = try HTTP.Request(url: "https://user:s3cret@a.test/")
        #expect(Self.error { _ = try HTTPRequest(secret) }.map { "\($0)".contains("user info") } == true)
        let spelled = HTTP.Request(method: "A B", url: secret.url)
        #expect(Self.error { _ = try HTTPRequest(spelled) } == .invalidMethod)
    }

    @Test("a Host field that repeats the authority is left out")
    func host() throws {
        let request = Self.request(.get, "https", "a.test", "/", [.init("host")!: "A.test", .accept: "*/*"])
        #expect(try HTTP.Request(request).headers.map(\.name) == [.accept])
    }

    @Test("a field that the other type cannot have is refused, without its value")
    func fields() {
        let latin1 = HTTPFields([HTTPField(name: Self.name, value: [0x73, 0xE9])])
        #expect(Self.error { _ = try HTTP.Headers(latin1) } == .invalidValue(name: "X-Part"))
        for value in ["a\u{0}b", "a\nb", "a\rb"] {
            let headers: HTTP.Headers = ["X-Part": value]
            #expect(Self.error { _ = try HTTPFields(headers) } == .invalidValue(name: "X-Part"))
        }
        #expect(Self.error { _ = try HTTPFields(["a b": "1"] as HTTP.Headers) } == .invalidName)
    }

    @Test("a request is sent to a server: its scheme, its authority, its path before the request's")
    func servers() throws {
        let cases = [
            ("https://a.test", "/pets?limit=1", "https://a.test/pets?limit=1"),
            ("https://a.test/", "/pets", "https://a.test/pets"),
            ("HTTPS://a.test:444/v1", "/pets", "https://a.test:444/v1/pets"),
            ("https://a.test/v1/?x=y#z", "/pets", "https://a.test/v1/pets"),
            ("http://[::1]/v1", nil, "http://[::1]/v1/"),
        ]
        for (base, path, url) in cases {
            let request = Self.request(.get, nil, nil, path)
            let sent = try request.on(server: #require(URL(string: base)))
            #expect(try HTTP.Request(sent).url.absoluteString == url)
        }
        let server = try #require(URL(string: "https://a.test/v1"))
        for path in ["pets", "*", "http://b.test/"] {
            let request = Self.request(.get, nil, nil, path)
            guard case .invalidTarget = Self.error({ _ = try request.on(server: server) }) else {
                Issue.record("\(path) was accepted")
                continue
            }
        }
        for base in ["/", "ftp://a.test", "https://user:s3cret@a.test"] {
            let url = try #require(URL(string: base))
            guard case .invalidTarget(let reason) = Self.error({ _ = try Self.request().on(server: url) }) else {
                Issue.record("\(base) was accepted")
                continue
            }
            #expect(!reason.contains("s3cret"))
        }
    }

    @Test("a response keeps its status and its fields in order")
    func responses() throws {
        let url = try #require(URL(string: "https://a.test/"))
        var response = HTTP.Response(status: 299, headers: ["Set-Cookie": "a=1", "Content-Length": "5"], url: url)
        response.headers.append("b=2", for: .setCookie)
        let converted = try HTTPResponse(response)
        #expect(converted.status.code == 299)
        #expect(converted.headerFields.map { "\($0)" } == ["Set-Cookie: a=1", "Content-Length: 5", "Set-Cookie: b=2"])
        #expect(try HTTP.Response(converted, url: url) == response)
        response.status = 1000
        #expect(Self.error { _ = try HTTPResponse(response) } == .invalidStatus(1000))
    }

    @Test("the fields of a body that was decoded do not describe the coded one")
    func decoded() throws {
        let url = try #require(URL(string: "https://a.test/"))
        let headers: HTTP.Headers = ["Content-Encoding": "gzip", "Content-Length": "5", "ETag": "x"]
        var response = HTTP.Response(status: 200, headers: headers, url: url)
        #expect(try HTTPResponse(response).headerFields.count == 3)
        response.decodedFrom = ["gzip"]
        #expect(try HTTPResponse(response).headerFields.map(\.name.rawName) == ["ETag"])
    }

    @Test("fields that are never indexed are listed as secret")
    func neverIndexed() {
        var fields: HTTPFields = [.accept: "*/*"]
        var secret = HTTPField(name: Self.name, value: "s3cret")
        secret.indexingStrategy = .disallow
        fields.append(secret)
        #expect(fields.neverIndexed == ["x-part"])
    }
}
