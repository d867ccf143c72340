import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Files that change after they were opened and before they are sent.
    static let changedBodies: [ConformanceCheck] = [
        changed("A file that grows before sending is sent at its old length") { file, content in
            try file.change(to: content + Data("GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8))
        } proving: { bottleneck, upload, content in
            try await expectSent(content, bottleneck, upload)
        },
        changed("A file replaced before sending is sent as it was") { file, content in
            try file.change(to: Data(content.reversed()), asAnother: true)
        } proving: { bottleneck, upload, content in
            try await expectSent(content, bottleneck, upload)
        },
        changed("A file that shrinks before sending fails only its fetch") { file, content in
            try file.change(to: content.prefix(40))
        } proving: { bottleneck, upload, _ in
            let refusal = try await upload.onlyOutcome().refusal()
            guard case .requestBody(let error, _) = refusal, error is BodyLengthError else {
                throw ConformanceFailure("expected a wrong length, saw \(refusal)")
            }
            try await expectNext(bottleneck)
        },
    ]

    /// A file is changed while the only connection is occupied, which is released then.
    private static func changed(
        _ name: String,
        _ change: @escaping @Sendable (ContentFile, Data) throws -> Void,
        proving prove: @escaping @Sendable (Bottleneck, Observation, Data) async throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck(name, needs: [.network]) { subject in
            let bottleneck = try await Bottleneck(subject)
            let content = patternBytes(100)
            let file = try ContentFile(content)
            let url = bottleneck.server.url("/upload")
            let upload = try bottleneck.stack.observe(url, method: .PUT, body: .file(path: file.path))
            try change(file, content)
            bottleneck.open()
            try await prove(bottleneck, upload, content)
        }
    }

    private static func expectSent(_ content: Data, _ bottleneck: Bottleneck, _ upload: Observation) async throws {
        try expectEqual(try await upload.onlyOutcome().text(), "/upload", "the response to the upload")
        try await expectNext(bottleneck)
        let requests = bottleneck.server.requests
        try expectEqual(requests.map(\.path), ["/held", "/upload", "/next"], "what the server received")
        try expectBytes(requests[1].body, content)
    }

    /// The next fetch gets its own response.
    private static func expectNext(_ bottleneck: Bottleneck) async throws {
        let text = try await bottleneck.stack.text(bottleneck.server.url("/next"))
        try expectEqual(text, "/next", "the response to the next fetch")
    }
}
