import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The body of a request arrives byte for byte, or the fetch fails.
    static let bodies: [ConformanceCheck] =
        sentBodies + streamedBodies + uploadProgress + changedBodies + lostBodies + interruptedBodies

    private static let sentBodies: [ConformanceCheck] =
        [0, 1, 65_536, 5 << 20].flatMap { [sendsBytes($0), sendsFile($0)] }
        + [
            ConformanceCheck("A body with every byte value arrives unchanged") { subject in
                let content = Data((0..<2048).map { UInt8(truncatingIfNeeded: $0) })
                try await echoes(content, as: .bytes(content), on: subject)
            },
            ConformanceCheck("A megabyte is echoed byte for byte") { subject in
                let content = patternBytes(1_000_003)
                try await echoes(content, as: .bytes(content), on: subject)
            },
            ConformanceCheck("A slice of other data arrives as just the slice") { subject in
                let content = patternBytes(10_000)[1234..<5678]
                try await echoes(content, as: .bytes(content), on: subject)
            },
            refusesFile("A missing file", in: "/nonexistent/folder/file"),
            refusesFile("A folder for a file", in: "/tmp"),
            ConformanceCheck("One request value can be sent many times, with any body") { subject in
                let peer = try subject.serve { .ok(bytes: $0.body) }
                let client = try subject.client()
                let content = patternBytes(100_000)
                let file = try ContentFile(content)
                let stream = HTTP.Body.Stream(length: 100_000) { AsyncStream(pieces(of: content)) }
                for body in [HTTP.Body.bytes(content), .file(path: file.path), .stream(stream)] {
                    let request = try HTTP.Request(method: .PUT, url: peer.url("/"), body: body)
                    for _ in 1...3 { try expectBytes(await client.success(request).value, content) }
                }
            },
            ConformanceCheck("A request's Expect field is sent once, and its body arrives", needs: [.network]) {
                subject in
                let peer = try subject.serve { .ok(bytes: $0.body) }
                let content = patternBytes(20_000)
                let request = try HTTP.Request(
                    method: .POST,
                    url: peer.url("/"),
                    headers: [.expect: "100-continue"],
                    body: .bytes(content)
                )
                try expectBytes(await subject.client().success(request).value, content)
                try expectEqual(peer.onlyRequest().values(of: "Expect"), ["100-continue"], "Expect")
            },
        ]

    private static func sendsBytes(_ count: Int) -> ConformanceCheck {
        ConformanceCheck("\(count) bytes arrive with their length") { subject in
            let content = patternBytes(count)
            try await arrives(content, as: .bytes(content), on: subject)
        }
    }

    private static func sendsFile(_ count: Int) -> ConformanceCheck {
        ConformanceCheck("A file of \(count) bytes arrives with its length") { subject in
            let content = patternBytes(count)
            let file = try ContentFile(content)
            try await arrives(content, as: .file(path: file.path), on: subject)
        }
    }

    private static func refusesFile(_ what: String, in path: String) -> ConformanceCheck {
        ConformanceCheck("\(what) is refused before sending") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let request = try HTTP.Request(method: .POST, url: peer.url("/refused"), body: .file(path: path))
            let refusal = try await client.refusal(request)
            guard case .requestBody(let error, _) = refusal, error is FileError else {
                throw ConformanceFailure("expected a file error, saw \(refusal)")
            }
            try await peer.expectNothingBefore(client)
        }
    }

    /// Sends a body and expects it at the server with its length, without chunks.
    static func arrives(_ content: Data, as body: HTTP.Body, on subject: ConformanceSubject) async throws {
        let peer = try subject.serve { _ in .ok("done") }
        let request = try HTTP.Request(
            method: .PUT,
            url: peer.url("/"),
            headers: [.contentType: "application/octet-stream"],
            body: body
        )
        _ = try await subject.client().success(request)
        let received = try peer.onlyRequest()
        try expectBytes(received.body, content)
        try expectEqual(received.values(of: "Content-Length"), [String(content.count)], "Content-Length")
        try expectEqual(received.values(of: "Transfer-Encoding"), [], "Transfer-Encoding")
        try expectEqual(received.values(of: "Content-Type"), ["application/octet-stream"], "Content-Type")
    }

    /// Sends a body and expects it in the response.
    static func echoes(_ content: Data, as body: HTTP.Body, on subject: ConformanceSubject) async throws {
        let peer = try subject.serve { .ok(bytes: $0.body) }
        let request = try HTTP.Request(method: .POST, url: peer.url("/"), body: body)
        let fetched = try await subject.client().success(request)
        try expectBytes(peer.onlyRequest().body, content, "the body at the server")
        try expectBytes(fetched.value, content, "the body of the response")
    }
}

extension ConformancePeer {
    /// Expects that nothing reached the server so far: the next request is its first, on its first connection.
    func expectNothingBefore(
        _ client: BoundedClient,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        _ = try await client.get(url("/after"), file: file, line: line)
        let request = try onlyRequest(file: file, line: line)
        try expect(request.target.hasSuffix("/after"), "The server received \(request)", file: file, line: line)
        try expectEqual(request.connectionIndex, 0, "connections opened before the refusal", file: file, line: line)
    }
}

/// A body in a file that is removed with this object.
final class ContentFile: Sendable {
    let path: String

    init(_ content: Data) throws {
        path = "/tmp/networkstack-conformance-\(UUID().uuidString)"
        try content.write(to: URL(filePath: path))
    }

    /// Changes the contents of the file, in place or by a new file.
    func change(to content: Data, asAnother isReplaced: Bool = false) throws {
        try content.write(to: URL(filePath: path), options: isReplaced ? .atomic : [])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A body in pieces of varying size, some of them empty, for streams.
func pieces(of content: Data) -> [Data] {
    var pieces: [Data] = [Data()]
    var rest = content[...]
    for size in sequence(first: 1, next: { min($0 * 3, 40_000) }) {
        if rest.isEmpty { break }
        pieces += [rest.prefix(size), Data()]
        rest = rest.dropFirst(size)
    }
    return pieces
}

extension AsyncStream where Element: Sendable {
    /// Yields the elements on request, then ends.
    init(_ elements: [Element]) {
        let left = Lock(elements[...])
        self.init { left.withLock { $0.popFirst() } }
    }
}
