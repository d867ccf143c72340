import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Forms, read by independent parsers.
    static let sentForms: [ConformanceCheck] = [
        ConformanceCheck("httpbin reads a form's fields as they were given", needs: [.network]) { subject in
            let fields: KeyValuePairs = [
                "plain": "text", "spaces and & = + ; %": "a b&c=d+e;f%20g", "\u{FC}": "\u{1F642}\r\n\t\"'", "empty": "",
            ]
            let echo = try await echoed(.form(fields), on: subject)
            try expectEqual(echo.form, Dictionary(uniqueKeysWithValues: fields.map { ($0, $1) }), "the form")
        },
        ConformanceCheck("httpbin reads JSON as it was given", needs: [.network]) { subject in
            let echo = try await echoed(.json(["a": "\u{FC}/\"\\"]), on: subject)
            try expectEqual(echo.json, ["a": "\u{FC}/\"\\"], "the JSON")
            try expectEqual(echo.headers["Content-Type"], "application/json", "Content-Type")
        },
        ConformanceCheck("httpbin reads a multipart form's values and files unchanged", needs: [.network]) {
            subject in
            let photo = try ContentFile(Data("file\r\n--\r\n\u{FC}".utf8))
            var form = MultipartFormData()
            form.append("a\r\nb \u{1F642}", name: "text")
            form.append("", name: "empty")
            form.append(Data("{}".utf8), name: "\u{FC}", filename: "a.json", mediaType: .json)
            form.append(file: photo.path, name: "photo", mediaType: .jpeg)
            form.append(.init(AsyncStream(pieces(of: Data("streamed".utf8))), length: 8), name: "stream", filename: "s")
            let echo = try await echoed(.multipart(form), on: subject)
            try expectEqual(echo.form, ["text": "a\r\nb \u{1F642}", "empty": ""], "the values")
            try expectEqual(
                echo.files,
                ["\u{FC}": "{}", "photo": "file\r\n--\r\n\u{FC}", "stream": "streamed"],
                "the files"
            )
        },
        ConformanceCheck("Python's parser finds every part of a multipart form, byte for byte") { subject in
            let content = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            let file = try ContentFile(content)
            var form = MultipartFormData()
            form.append("value", name: "a \"b\"\r\nc")
            form.append(content, name: "bytes", filename: "x\"y\n.bin", mediaType: .pdf)
            form.append(file: file.path, name: "file", filename: "../../photo.jpg", mediaType: .jpeg)
            form.append(.init(AsyncStream(pieces(of: content))), name: "stream")
            let request = try await received(.multipart(form), on: subject)
            let parts = try PythonFormParser.parts(of: request.body, contentType: request["Content-Type"] ?? "")
            try expectEqual(parts.map(\.name), ["a %22b%22%0D%0Ac", "bytes", "file", "stream"], "the names")
            try expectEqual(parts.map(\.filename), [nil, "x%22y%0A.bin", "../../photo.jpg", nil], "the file names")
            try expectEqual(
                parts.map(\.type),
                ["text/plain", "application/pdf", "image/jpeg", "application/octet-stream"],
                "the types"
            )
            try expectBytes(parts[0].content, "value".utf8)
            for part in parts.dropFirst() { try expectBytes(part.content, content, part.name ?? "") }
        },
        ConformanceCheck("A multipart form has a length if all its parts do", needs: [.network]) {
            subject in
            let file = try ContentFile(patternBytes(100_000))
            var form = MultipartFormData()
            form.append(file: file.path, name: "file")
            form.append(.init(AsyncStream(pieces(of: patternBytes(1000))), length: 1000), name: "stream")
            let request = try await received(.multipart(form), on: subject)
            try expectEqual(request.values(of: "Content-Length"), ["\(request.bodyCount)"], "Content-Length")
            try expect(request.bodyCount > 101_000, "The body has \(request.bodyCount) bytes")
        },
        ConformanceCheck(
            "A multipart form with a part of unknown length is chunked",
            needs: [.network, .streamedRequestBody]
        ) { subject in
            var form = MultipartFormData()
            form.append(.init(AsyncStream(pieces(of: patternBytes(1000)))), name: "stream")
            let request = try await received(.multipart(form), on: subject)
            try expectEqual(request.values(of: "Transfer-Encoding"), ["chunked"], "Transfer-Encoding")
        },
        ConformanceCheck("A multipart form of repeatable parts is sent again after a redirect") { subject in
            let file = try ContentFile(patternBytes(10_000))
            var form = MultipartFormData()
            form.append(file: file.path, name: "file")
            form.append(HTTP.Body.Stream { AsyncStream(pieces(of: patternBytes(1000))) }, name: "stream")
            let peer = try subject.serve { $0.path.hasSuffix("/first") ? .redirect(307, to: "/second") : .ok("done") }
            guard let url = URL(string: peer.url("/first")) else { throw ConformanceFailure("no URL") }
            _ = try await subject.client().success(HTTP.Request(url: url, content: .multipart(form)))
            let requests = peer.requests()
            try expectEqual(requests.count, 2, "requests")
            try expectBytes(requests[1].body, requests[0].body)
            try expectEqual(requests[1]["Content-Type"], requests[0]["Content-Type"], "Content-Type")

            form.append(.init(AsyncStream(pieces(of: patternBytes(1000)))), name: "once")
            let once = try HTTP.Request(url: url, content: .multipart(form))
            guard case .bodyNotReplayable = try await subject.client().refusal(once) else {
                throw ConformanceFailure("A one-shot part was sent again")
            }
        },
    ]

    /// The body that the server received.
    private static func received(_ content: HTTP.Content, on subject: ConformanceSubject) async throws
        -> ReceivedRequest
    {
        let peer = try subject.serve { _ in .ok("done") }
        guard let url = URL(string: peer.url("/")) else { throw ConformanceFailure("no URL") }
        _ = try await subject.client().success(HTTP.Request(url: url, content: content))
        return try peer.onlyRequest()
    }

    /// The form that httpbin parsed from a body.
    private static func echoed(_ content: HTTP.Content, on subject: ConformanceSubject) async throws -> FormEcho {
        let httpbin = try await RealServers.shared.httpbin()
        guard let url = URL(string: httpbin.url("/anything")) else { throw ConformanceFailure("no URL") }
        let fetched = try await subject.client().success(HTTP.Request(url: url, content: content))
        return try JSONDecoder().decode(FormEcho.self, from: fetched.value)
    }
}

/// The response of httpbin's `/anything` to a form.
private struct FormEcho: Decodable {
    let form: [String: String]
    let files: [String: String]
    let json: [String: String]?
    let headers: [String: String]
}
