import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The progress of an upload is reported while it runs.
    static let uploadProgress: [ConformanceCheck] = [
        ConformanceCheck("Upload progress is reported while the server reads", needs: [.network]) {
            subject in
            // More than the system holds for a server that reads nothing.
            let content = patternBytes(20 << 20)
            let file = try ContentFile(content)
            let stream = HTTP.Body.Stream(length: 20 << 20) { AsyncStream(pieces(of: content)) }
            for body in [HTTP.Body.bytes(content), .file(path: file.path), .stream(stream)] {
                let mayGoOn = Gate()
                let server = try ScriptedServer { _ in
                    [.receiveHead, .wait(for: mayGoOn), .receiveBody, .send(doneReply), .waitForClose]
                }
                let (progress, first) = (Progress(), Gate())
                let observation = try observe(body, at: server.url(), on: subject, progress, first)
                try await first.opened()
                try expect(!observation.isCompleted, "The fetch completed before the server read the body")
                mayGoOn.open()
                _ = try await observation.onlyOutcome().value()
                try expectEqual(progress.sent.last, Progress.end, "the last report")
                let sent = progress.sent.dropLast()
                try expect(Array(sent) == sent.sorted() && sent.count > 2, "The progress reports are \(sent)")
                try expectEqual(sent.last, 20 << 20, "the last count of sent bytes")
                try expectEqual(progress.lengths, [20 << 20], "the reported lengths")
            }
        },
        ConformanceCheck("A body of unknown length reports progress without a length") { subject in
            let content = patternBytes(300_000)
            let peer = try subject.serve { .ok(bytes: $0.body) }
            let progress = Progress()
            let body = HTTP.Body.stream(.init { AsyncStream(pieces(of: content)) })
            let observation = try observe(body, at: peer.url("/"), on: subject, progress)
            try expectBytes(await observation.onlyOutcome().value().value, content)
            try expectEqual(progress.sent.suffix(2), [300_000, Progress.end], "the last progress reports")
            try expectEqual(progress.lengths, [nil], "the reported lengths")
        },
        ConformanceCheck("A repeated body reports progress from its first byte") { subject in
            let content = patternBytes(100_000)
            let file = try ContentFile(content)
            let peer = try subject.serve { $0.path.hasSuffix("/start") ? .redirect(307, to: "/next") : .ok("done") }
            for body in [HTTP.Body.bytes(content), .file(path: file.path)] {
                let progress = Progress()
                _ = try await observe(body, at: peer.url("/start"), on: subject, progress).onlyOutcome().value()
                try expectEqual(
                    progress.sent.count { $0 == 100_000 },
                    2,
                    "reports of the whole body (\(progress.sent))"
                )
                try expectEqual(progress.lengths, [100_000], "the reported lengths")
            }
        },
        ConformanceCheck("A body of a dead keep-alive connection reports progress from its start", needs: [.network]) {
            subject in
            let content = patternBytes(100_000)
            let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            let server = try ScriptedServer { index in
                index == 0
                    ? [.receiveHead, .send(reply), .receiveRequest, .close]
                    : [.receiveRequest, .send(reply), .waitForClose]
            }
            let stack = try subject.stack()
            try await stack.text(server.url("/first"))
            let progress = Progress()
            _ = try await observe(.bytes(content), at: server.url("/second"), on: stack, progress).onlyOutcome().value()
            try expectEqual(
                server.requests.map(\.bodyCount),
                [0, 100_000, 100_000],
                "bytes of each body at the server"
            )
            try expect(progress.sent.max() == 100_000, "The progress reports are \(progress.sent)")
            try expectEqual(progress.sent.suffix(2), [100_000, Progress.end], "the last progress reports")
        },
        ConformanceCheck("A request without a body reports no progress") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let progress = Progress()
            for body in [HTTP.Body.none, .bytes(Data())] {
                _ = try await observe(body, at: peer.url("/"), on: subject, progress).onlyOutcome().value()
            }
            try expectEqual(progress.sent, [Progress.end, Progress.end], "the progress reports")
        },
    ]

    /// The reported progress of a fetch, and its end.
    private final class Progress: Sendable {
        static let end: Int64 = -1

        private let state = Lock<(sent: [Int64], lengths: Set<Int64?>)>(([], []))

        var sent: [Int64] { state.withLock { $0.sent } }
        var lengths: Set<Int64?> { state.withLock { $0.lengths } }

        func report(_ sent: Int64, _ length: Int64?) {
            state.withLock { state in
                state.sent.append(sent)
                state.lengths.insert(length)
            }
        }

        func reportEnd() { state.withLock { $0.sent.append(Self.end) } }
    }

    private static func observe(
        _ body: HTTP.Body,
        at url: String,
        on subject: ConformanceSubject,
        _ progress: Progress,
        _ first: Gate? = nil
    ) throws -> Observation {
        try observe(body, at: url, on: subject.stack(), progress, first)
    }

    private static func observe(
        _ body: HTTP.Body,
        at url: String,
        on stack: ConformanceSubject.Stack,
        _ progress: Progress,
        _ first: Gate? = nil
    ) throws -> Observation {
        var options = HTTP.Options()
        options.onBytesSent = { sent, length in
            progress.report(sent, length)
            first?.open()
        }
        let request = try HTTP.Request(method: .PUT, url: url, body: body)
        return stack.observe(.init(baseRequestMaking: .request(request), options: options.replacing)) { _ in
            progress.reportEnd()
        }
    }
}
