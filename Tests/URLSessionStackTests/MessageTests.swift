import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing

@testable import URLSessionStack

@Suite("Foundation's messages and the neutral ones")
struct MessageTests {
    @Test("Fields survive a URLRequest: joined if repeated, with their case kept")
    func fields() throws {
        var headers: HTTP.Headers = ["x-lOw": "1", "Cookie": "a=b", "Empty": ""]
        headers.append("c=d", for: "cookie")
        headers.append("2", for: "X-Low")
        let request = try URLRequest(
            HTTP.Request(method: "PROPFIND", url: URLText.parse("http://a.test/?q=1"), headers: headers)
        )
        #expect(request.allHTTPHeaderFields == ["x-lOw": "1, 2", "Cookie": "a=b; c=d", "Empty": ""])
        let back = try request.httpRequest()
        #expect(back.method == "PROPFIND")
        #expect(back.url.absoluteString == "http://a.test/?q=1")
        #expect(back.headers == ["Cookie": "a=b; c=d", "Empty": "", "x-lOw": "1, 2"])
    }

    @Test("An illegal message is kept, so that it is refused and not dropped")
    func illegal() async throws {
        let network = try Stack(configuration: .init())
        let headers: HTTP.Headers = ["X-A": "1\r\nX-B: 2"]
        let request = try URLRequest(HTTP.Request(url: URLText.parse("http://127.0.0.1:9/"), headers: headers))
        guard
            case .failure(.invalidRequest) = await network.outcome(
                of: .init(baseRequestMaking: .init { $0(.success(request)) })
            )
        else {
            Issue.record("The line break was not refused")
            return
        }
    }

    @Test("A method that a URLRequest would change is refused")
    func methods() throws {
        let url = try URLText.parse("http://a.test/")
        for method in ["get", "Post", "hEAD"] {
            #expect(throws: Network.ConfigurationError.self) {
                try URLRequest(HTTP.Request(method: .init(rawValue: method), url: url))
            }
        }
        for method in ["GET", "patch", "Options", "x"] {
            #expect(try URLRequest(HTTP.Request(method: .init(rawValue: method), url: url)).httpMethod == method)
        }
    }

    @Test("A URLRequest without a URL is no request")
    func noURL() throws {
        var request = URLRequest(url: try URLText.parse("http://a.test/"))
        request.url = nil
        #expect(throws: HTTP.InvalidValue.self) { try request.httpRequest() }
    }

    @Test("A fetched response carries the neutral one, redirects and metrics included")
    func response() async throws {
        let server = try ScriptedServer.responding {
            $0.path == "/" ? .redirect(to: "/end") : .ok("x", headers: [("ETag", "\"1\"")])
        }
        let response = try await Stack(configuration: .init()).fetch(resource: .url(server.url())).response
        let neutral = try #require(response.httpResponse)
        #expect(neutral.redirects.map(\.status) == [302])
        #expect(neutral.metrics.hopCount == 2)
        #expect(neutral.metrics.bytesReceived == 1)
        #expect(neutral.headers["etag"] == "\"1\"")
        let http = try #require(response as? HTTPURLResponse)
        #expect(http.statusCode == 200)
        #expect(http.url?.path == "/end")
        #expect(http.value(forHTTPHeaderField: "ETag") == "\"1\"")
        #expect(http.expectedContentLength == 1)
    }

    @Test(
        "Cookies that URLSession has joined are separated",
        arguments: [
            (["a=b"], "a=b"),
            (["a=b", "c=d"], "a=b, c=d"),
            (
                ["a=b; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Path=/", "c=d"],
                "a=b; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Path=/, c=d"
            ),
            (["a=x,y; Secure"], "a=x,y; Secure"),
            (["s=uid=42,exp=99; HttpOnly", "c=d"], "s=uid=42,exp=99; HttpOnly, c=d"),
            (["a=; HttpOnly", "b="], "a=; HttpOnly, b="),
        ]
    )
    func cookies(expected: [String], joined: String) throws {
        let response = try #require(
            HTTPURLResponse(
                url: URLText.parse("http://a.test/"),
                statusCode: 200,
                httpVersion: nil,
                headerFields: ["Set-Cookie": joined]
            )
        )
        #expect(response.httpResponse?.headers.values(for: .setCookie) == expected)
    }

    @Test(
        "The first of HSTS fields that URLSession has joined counts",
        arguments: [
            ("max-age=1", "max-age=1"), ("max-age=1 , max-age=0; x", "max-age=1"), (", max-age=1", ""),
            ("a=\"1, 2\"; max-age=3,max-age=4", "a=\"1, 2\"; max-age=3"), ("a=\"1, max-age=2", "a=\"1, max-age=2"),
        ]
    )
    func strictTransport(joined: String, first: String) throws {
        let fields = ["strict-Transport-Security": joined, "X-Other": joined]
        let response = HTTPURLResponse(
            url: try URLText.parse("https://a.test/"),
            statusCode: 200,
            httpVersion: nil,
            headerFields: fields
        )
        let headers = try #require(response?.httpResponse).headers
        #expect(headers["Strict-Transport-Security"] == first)
        #expect(headers["X-Other"] == joined)
    }

    @Test(
        "Joined lines of a singular field become one line if all are equal",
        arguments: [
            ("/ok, /ok", "/ok"), ("/ok, /ok, /ok", "/ok"), ("/a,b, /a,b", "/a,b"), ("/ok, /no", "/ok, /no"),
            ("/a,/a", "/a,/a"), ("/ok, /ok, /no", "/ok, /ok, /no"), ("5, 5, 5, 5", "5"), (", ", ","), (",", ","),
            ("/ok, ", "/ok,"),
            ("Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ]
    )
    func repeated(joined: String, expected: String) throws {
        let response = HTTPURLResponse(
            url: try URLText.parse("https://a.test/"),
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["location": joined, "X-Other": "1, 1"]
        )
        let headers = try #require(response?.httpResponse).headers
        #expect(headers[.location] == expected)
        #expect(headers["X-Other"] == "1, 1")
    }

    /// Fields with one value (RFC 9110; RFC 6266 for Content-Disposition, RFC 9111 for Age and Expires).
    @Test(
        "Equal lines of a field with one value are one value",
        arguments: [
            "Age", "Content-Disposition", "Content-Length", "Content-Location", "Content-Range", "Content-Type", "Date",
            "ETag", "Expires", "Last-Modified", "Location", "Retry-After",
        ]
    )
    func repeated(name: String) throws {
        let response = HTTPURLResponse(
            url: try URLText.parse("https://a.test/"),
            statusCode: 200,
            httpVersion: nil,
            headerFields: [name: "1, 1"]
        )
        #expect(try #require(response?.httpResponse).headers[.init(name)] == "1")
    }

    @Test(
        "Blanks and tabs around a value are removed, and nothing else",
        arguments: [("a b", "a b"), (" a\t", "a"), ("", ""), (" \t ", ""), ("\u{A0}a ", "\u{A0}a"), ("é", "é")]
    )
    func blanks(text: String, expected: String) {
        #expect(String(Substring(text.utf8.withoutOuterBlanks)) == expected)
        #expect(WireRequest.joined(["X-Text": text]).fields == ["X-Text": expected])
    }

    @Test(
        "A length has digits only, and its joined lines must agree",
        arguments: [
            ("5", "5"), ("5, 5", "5"), ("5 ,\t5", "5"), ("5,6", nil), ("+5", nil), ("5x", nil), (",", nil),
            ("5 5", nil), ("5,", nil), (",5", nil), ("99999999999999999999", nil),
        ] as [(String, String?)]
    )
    func lengths(text: String, expected: String?) throws {
        let url = try URLText.parse("http://a.test/")
        let fields = ["Content-Length": text]
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        let head = ReceivedHead(try #require(response), url: url)
        #expect((head.fault(for: .GET) == nil) == (expected != nil))
        if let expected { #expect(head.length(for: .GET).map(String.init) == expected) }
    }

    @Test(
        "No error names the lookup, connection or proxy once the request may have arrived",
        arguments: [
            (.cannotConnectToHost, "Failed to connect", .connect), (.cannotFindHost, "", .dns),
            (.unknown, "Could not resolve host: a.test", .dns), (.unknown, "Could not resolve proxy: a.test", .proxy),
            (.unknown, "CONNECT tunnel failed, response 502", .proxy),
        ] as [(URLError.Code, String, HTTP.FailureKind)]
    )
    func errorsAfterSending(code: URLError.Code, text: String, kind: HTTP.FailureKind) {
        let error = URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
        for (mayHaveArrived, kind) in [(false, kind), (true, .receive)] {
            guard case .transport(let failure) = URLError.failure(error, mayHaveArrived: mayHaveArrived),
                failure.kind == kind, failure.phase?.isBeforeSending != true || !mayHaveArrived
            else {
                Issue.record("mayHaveArrived \(mayHaveArrived) is not \(kind)")
                continue
            }
        }
    }

    @Test(
        "A host's name does not affect the kind of failure",
        arguments: ["my-proxy.test", "callback.test", "RECV.test", "rewind"],
        [
            (
                URLError.Code.cannotConnectToHost,
                "Failed to connect to HOST port 80 after 0 ms: Couldn't connect to server",
                HTTP.FailureKind.connect
            ),
            (.unknown, "SSL: no alternative certificate subject name matches target host name 'HOST'", .tls),
            (.unknown, "OpenSSL SSL_connect: Connection reset by peer in connection to HOST:443 ", .tls),
            (.unknown, "Received HTTP code 403 from proxy after CONNECT", .proxy),
        ]
    )
    func errorsNamingHosts(host: String, reported: (code: URLError.Code, text: String, kind: HTTP.FailureKind)) throws {
        let text = reported.text.replacingOccurrences(of: "HOST", with: host.lowercased())
        let url = try URLText.parse("https://\(host)/")
        let error = URLError(
            reported.code,
            userInfo: [NSLocalizedDescriptionKey: text, NSURLErrorFailingURLErrorKey: url]
        )
        guard case .transport(let failure) = URLError.failure(error) else {
            Issue.record("The error became another failure")
            return
        }
        #expect(failure.kind == reported.kind)
    }

    @Test("An error with a response shows neither cookies nor a query, even when dumped")
    func redaction() async throws {
        let server = try ScriptedServer.responding { _ in
            .status(401, "no", headers: [("Set-Cookie", "id=s3cret"), ("X-Shown", "shown")])
        }
        let network = try Stack(configuration: .init())
        let outcome = await network.outcome(of: try .url(server.url("/path?token=s3cret")))
        guard case .failure(.http(401, _, let response)) = outcome else {
            Issue.record("Expected a 401, saw \(outcome)")
            return
        }
        for (value, showsFields) in [(outcome, false), (response, true)] as [(Any, Bool)] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("s3cret"), "\(text)")
                #expect(!showsFields || text.contains("shown"), "\(text)")
            }
        }
    }

    @Test(
        "An error reports its kind, and hides the query of its URL",
        arguments: [
            (URLError.Code.cannotFindHost, "", HTTP.FailureKind.dns),
            (.cannotConnectToHost, "Failed to connect to a.test port 80 after 0 ms: Couldn't connect", .connect),
            (.cannotConnectToHost, "Empty reply from server", .empty),
            (.cannotConnectToHost, "Recv failure: Connection reset by peer", .receive),
            (.cannotConnectToHost, "", .other),
            (.timedOut, "Operation timed out after 10 milliseconds with 0 bytes received", .other),
            (.networkConnectionLost, "", .receive), (.badServerResponse, "", .empty),
            (.unknown, "SSL certificate problem: unable to get local issuer certificate", .tls),
            (.unknown, "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert unknown, errno 0", .tls),
            (.unknown, "transfer closed with 5 bytes remaining to read", .truncated),
            (.unknown, "Failed writing header", .malformed),
            (.unknown, "Error while processing content unencoding: incorrect header check", .decoding),
            (.unknown, "Received HTTP code 403 from proxy after CONNECT", .proxy),
            (.unknown, "something else", .other),
        ]
    )
    func errors(code: URLError.Code, text: String, kind: HTTP.FailureKind) throws {
        let underlying = NSError(
            domain: NSURLErrorDomain,
            code: code.rawValue,
            userInfo: [NSLocalizedDescriptionKey: text]
        )
        let error = URLError(
            code,
            userInfo: [
                NSUnderlyingErrorKey: underlying, NSLocalizedDescriptionKey: text,
                NSURLErrorFailingURLErrorKey: try URLText.parse("http://user:secret@a.test/path?token=secret"),
            ]
        )
        guard case .transport(let failure) = URLError.failure(error) else {
            Issue.record("The error became another failure")
            return
        }
        #expect(failure.code == code)
        #expect(failure.kind == kind)
        #expect(failure.failingURL?.absoluteString == "http://a.test/path")
        #expect(!"\(failure) \(failure.userInfo)".contains("secret"))
        #expect(text.isEmpty || failure.failureDescription == "\(text) (NSURLErrorDomain \(code.rawValue))")
    }
}
