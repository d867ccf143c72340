import Foundation
import Testing

@testable import NetworkStack

@Suite("A multipart form")
struct MultipartFormDataTests {
    private func text(_ form: MultipartFormData) throws -> String {
        guard case .bytes(let data) = try form.content().body else { throw HTTP.InvalidValue("not bytes") }
        return String(decoding: data, as: UTF8.self)
    }

    /// Reads a body as a transport does.
    private func read(_ body: HTTP.Body) async throws -> Data {
        let ready = AsyncStream<Void>.makeStream()
        guard let source = try body.open(onReady: { ready.continuation.yield() }) else {
            guard case .bytes(let data) = body else { return Data() }
            return data
        }
        defer { source.close() }
        var (content, wakeups) = (Data(), ready.stream.makeAsyncIterator())
        while true {
            switch source.next(upTo: 1000) {
            case .bytes(let bytes): content += bytes
            case .pending: _ = await wakeups.next()
            case .failed(let error): throw error
            case .end: return content
            }
        }
    }

    private func file(_ content: Data) throws -> URL {
        let url = FileManager.default.temporaryDirectory.appending(path: "multipart-\(UUID().uuidString)")
        try content.write(to: url)
        return url
    }

    @Test("of values and bytes is written byte for byte as RFC 7578 requires")
    func bytes() throws {
        var form = try MultipartFormData(boundary: "x")
        form.append("v\n\"", name: "text")
        form.append(Data("{}".utf8), name: "data", filename: "a.json", mediaType: .json)
        form.parts.append(.init(name: "bare", body: .none))
        #expect(
            try text(form) == """
                --x\r
                Content-Disposition: form-data; name="text"\r
                \r
                v
                "\r
                --x\r
                Content-Disposition: form-data; name="data"; filename="a.json"\r
                Content-Type: application/json\r
                \r
                {}\r
                --x\r
                Content-Disposition: form-data; name="bare"\r
                \r
                \r
                --x--\r

                """
        )
        #expect(try form.content().mediaType == "multipart/form-data; boundary=x")
    }

    @Test("without a field is only its last boundary")
    func empty() throws {
        #expect(try text(MultipartFormData(boundary: "x")) == "--x--\r\n")
    }

    @Test(
        "escapes names and file names as browsers do",
        arguments: [
            ("a\"b", "a%22b", "a%22b"), ("a\nb", "a%0D%0Ab", "a%0Ab"), ("a\rb", "a%0D%0Ab", "a%0Db"),
            ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"), ("a\r", "a%0D%0A", "a%0D"), ("\n\r", "%0D%0A%0D%0A", "%0A%0D"),
            ("a\\b", "a\\b", "a\\b"), ("a%22b", "a%22b", "a%22b"), ("ü;=", "ü;=", "ü;="),
        ]
    )
    func escapes(_ text: String, _ name: String, _ filename: String) throws {
        var form = MultipartFormData()
        form.append(Data(), name: text, filename: text)
        #expect(try self.text(form).contains("; name=\"\(name)\"; filename=\"\(filename)\"\r\n"))
    }

    @Test(
        "names a file by what follows the last slash, whatever that is",
        arguments: [
            ("/home/me/a.txt", "a.txt"), ("a.txt", "a.txt"), ("/home/me/", "me"), ("/", ""), ("", ""),
            ("/home/me/\u{301}a.txt", "\u{301}a.txt"),
        ]
    )
    func fileNames(_ path: String, _ name: String) {
        var form = MultipartFormData()
        form.append(file: path, name: "file")
        #expect(form.parts.first?.filename.map { Array($0.utf8) } == Array(name.utf8))
    }

    @Test("has one boundary on every read, and another form has another")
    func boundaries() throws {
        let (one, other) = (MultipartFormData(), MultipartFormData())
        #expect(one.boundary != other.boundary)
        #expect(try text(one) == text(one))
        #expect(try one.content().mediaType?[parameter: "boundary"] == one.boundary)
        for wrong in ["", " ", "a ", "a\r\nb", "a\"b", "ü", String(repeating: "a", count: 71)] {
            #expect(throws: HTTP.InvalidValue.self) { try MultipartFormData(boundary: wrong) }
        }
        let odd = try MultipartFormData(boundary: "a b'()+_,-./:=?c")
        #expect(try odd.content().mediaType?.description == "multipart/form-data; boundary=\"a b'()+_,-./:=?c\"")
    }

    @Test("with a file and streams is composed while it is read, with a known length")
    func streamed() async throws {
        let photo = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        let file = try file(photo)
        defer { try? FileManager.default.removeItem(at: file) }
        var form = try MultipartFormData(boundary: "x")
        form.append("1", name: "first")
        form.append(file: file.path, name: "photo", mediaType: .jpeg)
        form.append(.init(length: 5) { AsyncStream(unfolding: pieces(of: Data("hello".utf8))) }, name: "stream")
        form.append("2", name: "last")
        let content = try form.content()
        var expected = Data(
            "--x\r\nContent-Disposition: form-data; name=\"first\"\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"\(file.lastPathComponent)\"\r\nContent-Type: image/jpeg\r\n\r\n"
                .utf8
        )
        expected += photo
        expected += Data(
            "\r\n--x\r\nContent-Disposition: form-data; name=\"stream\"\r\nContent-Type: application/octet-stream\r\n\r\nhello\r\n--x\r\nContent-Disposition: form-data; name=\"last\"\r\n\r\n2\r\n--x--\r\n"
                .utf8
        )
        #expect(content.body.length == Int64(expected.count))
        #expect(content.body.isReplayable && form.isReplayable)
        for _ in 1...2 { #expect(try await read(content.body) == expected) }
    }

    @Test("with a stream of unknown length has no length, and with a one-shot stream is one-shot")
    func once() async throws {
        var form = MultipartFormData()
        form.append(.init(AsyncStream(unfolding: pieces(of: Data("once".utf8)))), name: "stream")
        #expect(!form.isReplayable)
        let body = try form.content().body
        #expect(body.length == nil)
        #expect(!body.isReplayable)
        #expect(try await read(body).count > 4)
        // Nor through another form with the same stream: it is not even started.
        for body in [body, try form.content().body] { expectRefused(body) }
    }

    private func expectRefused(_ body: HTTP.Body) {
        #expect {
            _ = try body.open {}
        } throws: {
            if case HTTP.Body.OpeningError.notReplayable = $0 { true } else { false }
        }
    }

    @Test("with a one-shot stream is started once, however many threads open it")
    func openedAtOnce() throws {
        for _ in 0..<200 {
            var form = MultipartFormData()
            form.append(.init(AsyncStream(unfolding: pieces(of: Data("once".utf8)))), name: "stream")
            let (body, count) = (try form.content().body, Lock(0))
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                if (try? body.open {}) != nil { count.withLock { $0 += 1 } }
            }
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test("with a stream that was sent before sends no other stream")
    func partlySent() throws {
        func once() -> HTTP.Body.Stream { .init(AsyncStream(unfolding: pieces(of: Data("once".utf8)))) }
        let (unsent, sent) = (once(), once())
        _ = try HTTP.Body.stream(sent).open {}
        var form = MultipartFormData()
        form.append(unsent, name: "unsent")
        form.append(sent, name: "sent")
        expectRefused(try form.content().body)
        _ = try HTTP.Body.stream(unsent).open {}
        expectRefused(.stream(unsent))
    }

    @Test("with a one-shot stream used twice is not started")
    func twice() throws {
        var form = MultipartFormData()
        let stream = HTTP.Body.Stream(AsyncStream(unfolding: pieces(of: Data("once".utf8))))
        for name in ["a", "b"] { form.append(stream, name: name) }
        expectRefused(try form.content().body)
    }

    @Test("has no part with trailers")
    func trailers() throws {
        var form = MultipartFormData()
        var stream = HTTP.Body.Stream(AsyncStream(unfolding: pieces(of: Data("a".utf8))))
        stream.trailers = .init(["T"]) { ["T": "t"] }
        form.append(stream, name: "a")
        #expect(throws: HTTP.InvalidValue.self) { try form.content() }
    }

    @Test("has no length if the sum of its streams overflows")
    func longest() throws {
        var form = MultipartFormData()
        form.append(HTTP.Body.Stream(AsyncStream<Data> { $0.finish() }, length: .max), name: "longest")
        #expect(try form.content().body.length == nil)
    }

    @Test("fails if a stream or a file does not have its declared length")
    func lengths() async throws {
        for declared in [3, 5] as [Int64] {
            var form = MultipartFormData()
            let four = { AsyncStream(unfolding: pieces(of: Data("four".utf8))) }
            form.append(.init(four(), length: declared), name: "a")
            form.append(.init(four(), length: 8 - declared), name: "b")
            await #expect(throws: BodyLengthError.self) { try await read(form.content().body) }
        }
        let file = try file(Data("1234".utf8))
        defer { try? FileManager.default.removeItem(at: file) }
        var form = MultipartFormData()
        form.append(file: file.path, name: "a")
        let body = try form.content().body
        try Data("123456".utf8).write(to: file)
        await #expect(throws: BodyLengthError.self) { try await read(body) }
    }

    @Test("refuses a missing file and an invalid media type before anything is sent")
    func refusals() throws {
        var form = MultipartFormData()
        form.append(file: "/nonexistent/file", name: "a")
        #expect(throws: FileError.self) { try form.content() }
        form.parts = [.init(name: "a", mediaType: .json.with("x", "\r\nEvil: yes"), body: .none)]
        #expect(throws: HTTP.InvalidValue.self) { try form.content() }
    }
}

/// The bytes in pieces, as a closure for an `AsyncStream`.
private func pieces(of data: Data) -> @Sendable () async -> Data? {
    let rest = Lock(data)
    return {
        rest.withLock { rest in
            defer { rest = rest.dropFirst(2) }
            return rest.isEmpty ? nil : rest.prefix(2)
        }
    }
}

/// Defects of the older systems, by name.
@Suite("Regressions of the seeds, in forms")
struct MultipartMistakeTests {
    @Test("the boundary changes on each read, so header, start and end differ")
    func boundaryPerUse() throws {
        var form = MultipartFormData()
        form.append("v", name: "n")
        let content = try form.content()
        let boundary = try #require(content.mediaType?[parameter: "boundary"])
        guard case .bytes(let data) = content.body else { throw HTTP.InvalidValue("not bytes") }
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.hasPrefix("--\(boundary)\r\n"))
        #expect(text.hasSuffix("--\(boundary)--\r\n"))
    }

    @Test("name and value of the Content-Type are swapped")
    func swappedField() throws {
        let url = try #require(URL(string: "http://h.test/"))
        let request = try HTTP.Request(url: url, content: .multipart(MultipartFormData(boundary: "x")))
        #expect(request.headers == ["Content-Type": "multipart/form-data; boundary=x"])
    }

    @Test("names are not escaped, so one can inject fields")
    func injection() throws {
        var form = try MultipartFormData(boundary: "x")
        form.append(Data(), name: "a\"\r\nEvil: yes\r\n\r\n--x--", filename: "b\"; evil=\"")
        guard case .bytes(let data) = try form.content().body else { throw HTTP.InvalidValue("not bytes") }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\r\n")
        #expect(!lines.contains { $0.hasPrefix("Evil") })
        #expect(lines.count { $0.hasPrefix("--x") } == 2)
    }
}
