import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// A model to decode.
struct CallModel: Codable, Sendable, Equatable {
    var name: String
    var count: Int
}

extension ConformanceCheck {
    /// Short calls: a request, a value.
    static let calls: [ConformanceCheck] = valueCalls + rawCalls + callFailures

    private static let json = #"{"name":"a","count":7}"#

    private static let valueCalls: [ConformanceCheck] = [
        ConformanceCheck("A short call decodes the JSON of a URL") { subject in
            let peer = try subject.serve { _ in .json(json) }
            let stack = try subject.stack()
            let url = peer.url("/model")
            let (byText, byURL) = try await bounded {
                let text = try await stack.get(url, as: CallModel.self)
                return (text, try await stack.get(HTTP.Request(url: url).url, as: CallModel.self))
            }
            try expectEqual([byText, byURL], Array(repeating: CallModel(name: "a", count: 7), count: 2), "the values")
            try expectEqual(peer.requests().map(\.method), ["GET", "GET"], "the methods")
        },
        ConformanceCheck("A short call sends JSON, a token and query items") { subject in
            let peer = try subject.serve { _ in .json(json) }
            let stack = try subject.stack()
            let order = CallModel(name: "b", count: 1)
            let request = HTTP.RequestBuilder.post(peer.url("/orders?a=1#end"), json: order).bearer("secret")
                .query("b", "x&y +").header("X-Kind", "first").header("X-Kind", "second")
            _ = try await bounded { try await stack.send(request, as: CallModel.self) }
            let received = try require(peer.requests().first, "No request arrived")
            try expectEqual(received.method, "POST", "the method")
            try expectEqual(received.target, "/orders?a=1&b=x%26y%20%2B", "the target")
            try expectEqual(received["content-type"], "application/json", "the media type")
            try expectEqual(received["authorization"], "Bearer secret", "the credentials")
            try expectEqual(received["x-kind"], "second", "a field that was set twice")
            try expectEqual(try JSONDecoder().decode(CallModel.self, from: Data(received.body)), order, "the body")
        },
        ConformanceCheck("A short call sends a form, a multipart form and Basic credentials") { subject in
            let peer = try subject.serve { _ in .status(204) }
            let stack = try subject.stack()
            var form = MultipartFormData()
            form.append("value", name: "field")
            let url = peer.url("/")
            let requests: [HTTP.RequestBuilder] = [
                .post(url).form(["a": "1", "b": "2 3"]).basic("user", "pass"), .put(url).multipart(form),
                .patch(url, body: .bytes(Data("raw".utf8))),
            ]
            try await bounded { for request in requests { try await stack.send(request) } }
            let received = peer.requests()
            try expectEqual(received.map(\.method), ["POST", "PUT", "PATCH"], "the methods")
            try expectEqual(String(decoding: received[0].body, as: UTF8.self), "a=1&b=2+3", "the form")
            try expectEqual(received[0]["authorization"], "Basic dXNlcjpwYXNz", "the credentials")
            try expect(
                received[1]["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true,
                "the media type is \(received[1]["content-type"] ?? "missing")"
            )
            try expectEqual(String(decoding: received[2].body, as: UTF8.self), "raw", "the body")
        },
        ConformanceCheck("A short call without a value accepts an empty success") { subject in
            let peer = try subject.serve { _ in .status(201) }
            let stack = try subject.stack()
            let response = try await bounded { try await stack.send(.put(peer.url("/"), json: [1])) }
            try expectEqual(response.status, .created, "the status")
        },
        ConformanceCheck("A short call decodes a response without a body as nil") { subject in
            let peer = try subject.serve { _ in .status(204) }
            let stack = try subject.stack()
            let value = try await bounded { try await stack.get(peer.url("/"), as: CallModel?.self) }
            try expect(value == nil, "The call decoded \(value as Any)")
        },
        ConformanceCheck("A response knows the request that it answers") { subject in
            let peer = try subject.serve { $0.path == "/start" ? .redirect(303, to: "/end") : .ok("x") }
            let stack = try subject.stack()
            let (_, response) = try await bounded {
                try await stack.data(for: .post(peer.url("/start"), body: .bytes(Data("x".utf8))))
            }
            let request = try require(response.request, "The response has no request")
            try expectEqual(request.method, .GET, "the method")
            try expectEqual(request.url.path, "/end", "the path")
        },
    ]

    private static let rawCalls: [ConformanceCheck] = [
        ConformanceCheck("A raw call returns every status, with or without a body") { subject in
            let peer = try subject.serve { request in
                request.path == "/empty" ? .status(503) : .status(404, "gone")
            }
            let stack = try subject.stack()
            let (missing, empty) = try await bounded {
                let missing = try await stack.data(for: .get(peer.url("/missing")))
                return (missing, try await stack.data(for: HTTP.Request(url: peer.url("/empty"))))
            }
            try expectEqual(missing.1.status, .notFound, "the status")
            try expectBytes(missing.0, "gone".utf8)
            try expectEqual(empty.1.status, .serviceUnavailable, "the status")
            try expect(empty.0.isEmpty, "an empty body has \(empty.0.count) bytes")
        },
        ConformanceCheck("A raw call retries only a status that it makes a failure") { subject in
            let peer = try subject.serve { _ in .status(503) }
            let stack = try subject.stack {
                $0.interceptors = [HTTPRetryPolicy.maxRetries(1)]
                $0.options.failsForStatus = { _ in true }
            }
            let returned = try await bounded { try await stack.data(for: .get(peer.url("/returned"))) }
            try expectEqual(returned.1.status, .serviceUnavailable, "the status")
            do {
                let strict: HTTP.Options.Change = { $0.failsForStatus = { $0 == 503 } }
                _ = try await bounded { try await stack.data(for: .get(peer.url("/failed")), options: strict) }
                throw ConformanceFailure("A status that is a failure was returned")
            } catch let error as any HTTPError {
                try expectEqual(error.statusCode, .serviceUnavailable, "the status")
            }
            try expectEqual(peer.requests().map(\.path), ["/returned", "/failed", "/failed"], "the requests")
        },
        ConformanceCheck("A raw stream delivers the body of every status") { subject in
            let peer = try subject.serve { _ in .status(500, "broken") }
            let stack = try subject.stack()
            let (body, response) = try await bounded {
                let (stream, response) = try await stack.stream(for: .get(peer.url("/")))
                return (try await stream.collect(), response)
            }
            try expectEqual(response.status, .internalServerError, "the status")
            try expectBytes(body, "broken".utf8)
        },
        ConformanceCheck("A stream can be read byte by byte") { subject in
            let content = patternBytes(70_000)
            let peer = try subject.serve { _ in .ok(bytes: Array(content)) }
            let stack = try subject.stack()
            let bytes = try await bounded {
                var bytes: [UInt8] = []
                for try await byte in try await stack.stream(for: .get(peer.url("/"))).0.bytes { bytes.append(byte) }
                return bytes
            }
            try expectBytes(bytes, content)
        },
        ConformanceCheck("An option decides which statuses are failures") { subject in
            let peer = try subject.serve { request in request.path == "/404" ? .status(404, "gone") : .ok("x") }
            let stack = try subject.stack()
            let (url404, url200) = (peer.url("/404"), peer.url("/200"))
            let bodies = try await bounded {
                let accepting = stack.with { $0.failsForStatus = { $0.statusClass == .serverError } }
                let fetched = try await accepting.fetch(resource: .get(url404)).value
                let streamed = try await accepting.stream(resource: .get(url404)).value.collect()
                return [fetched, streamed]
            }
            for body in bodies { try expectBytes(body, "gone".utf8) }
            for isStreamed in [false, true] {
                let error = try await callFailure {
                    let strict: HTTP.Options.Change = { $0.failsForStatus = { _ in true } }
                    if isStreamed {
                        _ = try await stack.stream(for: .get(url200), options: strict)
                    } else {
                        _ = try await stack.data(for: .get(url200), options: strict)
                    }
                }
                guard case .http(.ok, _, _) = error else { throw ConformanceFailure("The call failed with \(error)") }
                try expectEqual(error.body, Data("x".utf8), "the body of the failure")
            }
        },
    ]

    private static let callFailures: [ConformanceCheck] = [
        ConformanceCheck("A short call fails for a status, with its body") { subject in
            let peer = try subject.serve { _ in .status(422, "why") }
            let stack = try subject.stack()
            let error = try await callFailure { _ = try await stack.get(peer.url("/"), as: CallModel.self) }
            guard case .http(422, _, _) = error else { throw ConformanceFailure("The call failed with \(error)") }
            try expectEqual(error.body, Data("why".utf8), "the body of the failure")
            try expect(error.localizedText.contains(peer.url("/")), "\(error.localizedText) does not have the URL")
        },
        ConformanceCheck("A short call fails for a body that does not decode") { subject in
            let peer = try subject.serve { _ in .json(#"{"name":"a"}"#) }
            let stack = try subject.stack()
            let error = try await callFailure { _ = try await stack.get(peer.url("/"), as: CallModel.self) }
            guard case .undecodable(let cause, let response) = error else {
                throw ConformanceFailure("The call failed with \(error)")
            }
            try expect(cause is DecodingError, "the cause is \(cause)")
            try expectEqual(response.status, .ok, "the status")
            try expect("\(error)".contains(".count"), "\(error) does not name the missing value")
        },
        ConformanceCheck("A short call throws its last failure after retries") { subject in
            let peer = try subject.serve { _ in .status(503, "busy") }
            let stack = try subject.stack { $0.interceptors = [HTTPRetryPolicy.maxRetries(2)] }
            let error = try await callFailure { try await stack.send(.get(peer.url("/"))) }
            guard case .http(.serviceUnavailable, _, _) = error else {
                throw ConformanceFailure("The call failed with \(error)")
            }
            try expectEqual(peer.requests().count, 3, "the requests")
            try expectEqual(error.context?.attempt, 3, "the attempt")
        },
        ConformanceCheck("An invalid builder fails before anything is sent") { subject in
            struct Unencodable: Encodable {
                func encode(to encoder: any Encoder) throws { throw CancellationError() }
            }
            let peer = try subject.serve { _ in .ok("x") }
            let stack = try subject.stack()
            let url = peer.url("/")
            let invalid: [HTTP.RequestBuilder] = [
                .get("no url"), .get("ftp://host.test/"), .get(url).header("X-A", "b\r\nX-C: d"),
                .get(url).bearer("a\nb"),
                .get(url).basic("a:b", "c"),
            ]
            for request in invalid {
                let error = try await callFailure { try await stack.send(request) }
                guard case .invalidRequest = error else { throw ConformanceFailure("The call failed with \(error)") }
            }
            let error = try await callFailure { try await stack.send(.post(url, json: Unencodable())) }
            guard case .noRequest(let cause) = error, cause is CancellationError else {
                throw ConformanceFailure("The call failed with \(error)")
            }
            try expectEqual(peer.requests().count, 0, "the requests")
        },
        ConformanceCheck("Cancelling the task of a short call cancels it") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let stack = try subject.stack()
            let url = peer.url("/")
            let calls: [@Sendable () async throws -> Void] = [
                { _ = try await stack.get(url, as: Int.self) }, { try await stack.send(.get(url)) },
                { _ = try await stack.data(for: .get(url)) }, { _ = try await stack.stream(for: .get(url)) },
                { try await stack.download(from: url, to: "/nowhere/file") },
                { try await stack.upload(.bytes(Data()), to: url) }, { _ = try await stack.events(from: url) },
            ]
            for call in calls {
                let error = try await callFailure {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await call()
                }
                guard case .cancelled = error else { throw ConformanceFailure("The call failed with \(error)") }
            }
        },
    ]
}

extension HTTPFetchError {
    /// The source of `localizedDescription`.
    fileprivate var localizedText: String { (self as any LocalizedError).errorDescription ?? "" }
}

/// The error of a short call, within a limit.
func callFailure(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ call: @escaping @Sendable () async throws -> Void
) async throws -> BoundedClient.FetchError {
    try await bounded(.seconds(30), file: file, line: line) {
        do { try await call() } catch let failure as BoundedClient.FetchError { return failure }
        throw ConformanceFailure("The call did not fail", file: file, line: line)
    }
}

/// Requires a value.
func require<Value>(
    _ value: Value?,
    _ reason: @autoclosure () -> String,
    file: StaticString = #fileID,
    line: UInt = #line
) throws -> Value {
    guard let value else { throw ConformanceFailure(reason(), file: file, line: line) }
    return value
}
