import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Bodies that are made while they are sent.
    static let streamedBodies: [ConformanceCheck] = [
        ConformanceCheck("A stream of known length arrives with its length") { subject in
            let content = patternBytes(300_000)
            let stream = HTTP.Body.Stream(AsyncStream(pieces(of: content)), length: 300_000)
            try await arrives(content, as: .stream(stream), on: subject)
        },
        ConformanceCheck("A stream of length zero is sent with its length") { subject in
            let stream = HTTP.Body.Stream(AsyncStream([Data(), Data()]), length: 0)
            try await arrives(Data(), as: .stream(stream), on: subject)
        },
        ConformanceCheck("A stream of unknown length arrives whole") { subject in
            let content = patternBytes(300_000)
            try await echoes(content, as: .stream(.init(AsyncStream(pieces(of: content)))), on: subject)
        },
        ConformanceCheck("A stream of unknown length that is empty arrives as nothing") { subject in
            try await received(Data(), as: .stream(.init(AsyncStream([Data]()))), on: subject)
        },
        ConformanceCheck(
            "A stream of unknown length is sent in chunks",
            needs: [.network, .streamedRequestBody]
        ) { subject in
            let content = patternBytes(100_000)
            let peer = try subject.serve { _ in .ok("done") }
            let body = HTTP.Body.stream(.init(AsyncStream(pieces(of: content))))
            _ = try await subject.client().success(HTTP.Request(method: .POST, url: peer.url("/"), body: body))
            let request = try peer.onlyRequest()
            try expectEqual(request.values(of: "Transfer-Encoding"), ["chunked"], "Transfer-Encoding")
            try expectEqual(request.values(of: "Content-Length"), [], "Content-Length")
            try expectBytes(request.body, content)
        },
        ConformanceCheck("A stream whose bytes come late arrives whole", needs: [.network]) { subject in
            // Each chunk after the first is made only after another fetch, so the sender has nothing to send meanwhile.
            let clock = try subject.serve { _ in .ok("tick") }
            let (client, content) = (try subject.client(), patternBytes(5 * 7000))
            let left = Lock(content[...])
            let late = AsyncStream<Data> {
                guard (try? await client.get(clock.url("/tick"))) != nil else { return nil }
                let piece = left.withLock { left in
                    defer { left = left.dropFirst(7000) }
                    return left.prefix(7000)
                }
                return piece.isEmpty ? nil : piece
            }
            try await echoes(content, as: .stream(.init(late)), on: subject)
        },
        ConformanceCheck("A stream is sent while it is made", needs: [.network, .streamedRequestBody]) { subject in
            // The second piece is made only once the server has the first.
            let hasFirst = Gate()
            let server = try ScriptedServer { _ in
                [.receiveHead, .receive(10), .open(hasFirst), .receive(10), .send(doneReply)]
            }
            let number = Lock(0)
            let stream = AsyncThrowingStream<Data, any Error> {
                let index = number.withLock { number in
                    number += 1
                    return number
                }
                if index == 2 { try await hasFirst.opened() }
                return index > 2 ? nil : Data("0123456789".utf8)
            }
            let body = HTTP.Body.stream(.init(stream, length: 20))
            _ = try await subject.client().success(HTTP.Request(method: .POST, url: server.url(), body: body))
        },
        ConformanceCheck(
            "A stream is made no faster than the server reads it",
            needs: [.network, .streamedRequestBody]
        ) { subject in
            let (piece, count) = (65_536, 768)
            // The kernel's own buffers hold some 3 MiB on loopback; the stack itself may add one.
            let limit = 8 << 20
            let made = Lock(0)
            let aheadWhileSilent = Lock(0)
            var options = ScriptedServer.Options()
            options.receiveBuffer = 65_536
            options.recordLimit = 0
            let server = try ScriptedServer(options) { _ in
                [
                    .receiveHead,
                    // The server reads nothing until no more is made: without back-pressure, all of it is made, however slowly.
                    .run { connection in
                        var (last, next) = (-1, 0)
                        while next != last, next < limit {
                            last = next
                            try connection.pause(.milliseconds(300))
                            next = made.withLock { $0 }
                        }
                        aheadWhileSilent.withLock { [next] in $0 = next }
                    },
                    .receiveBody, .send(doneReply),
                ]
            }
            let stream = AsyncStream<Data> {
                let isLast = made.withLock { made in
                    made += piece
                    return made > piece * count
                }
                return isLast ? nil : Data(repeating: 7, count: piece)
            }
            let body = HTTP.Body.stream(.init(stream, length: Int64(piece * count)))
            _ = try await subject.client().success(HTTP.Request(method: .PUT, url: server.url(), body: body))
            try expectEqual(server.requests.first?.bodyCount, piece * count, "bytes received")
            let ahead = aheadWhileSilent.withLock { $0 }
            try expect(ahead < limit, "\(ahead) bytes were made while the server took none")
        },
        ConformanceCheck("A stream longer than declared is refused and never arrives whole", needs: [.network]) {
            for first in [600, 1000] {
                let chunks = AsyncStream([Data(count: first), Data(count: 600)])
                try await neverArrives(.init(chunks, length: 1000), on: $0) {
                    ($0 as? BodyLengthError)?.declared == 1000
                }
            }
        },
        ConformanceCheck("A stream shorter than declared is refused and never arrives whole", needs: [.network]) {
            try await neverArrives(.init(AsyncStream([Data(count: 600)]), length: 1000), on: $0) {
                guard let error = $0 as? BodyLengthError else { return false }
                return error.declared == 1000 && error.actual == 600
            }
        },
        ConformanceCheck(
            "A throwing stream ends the fetch with its error and never arrives",
            needs: [.network]
        ) {
            try await neverArrives(.init(failing(after: [Data(count: 600)]), length: 1000), on: $0) {
                $0 is StreamFailure
            }
        },
        ConformanceCheck("A throwing stream of unknown length never arrives whole", needs: [.network]) {
            try await neverArrives(.init(failing(after: [Data(count: 600)])), on: $0) { $0 is StreamFailure }
        },
        ConformanceCheck("A stream that throws at once ends the fetch with its error", needs: [.network]) {
            try await neverArrives(.init(failing(after: [])), on: $0) { $0 is StreamFailure }
        },
        ConformanceCheck("A one-shot stream is not sent twice") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let body = HTTP.Body.stream(.init(AsyncStream([Data("once".utf8)])))
            let request = try HTTP.Request(method: .POST, url: peer.url("/"), body: body)
            _ = try await client.success(request)
            guard case .bodyNotReplayable = try await client.refusal(request) else {
                throw ConformanceFailure("Expected the second fetch to be refused as not replayable")
            }
            try expectEqual(peer.onlyRequest().text, "once", "the body")
        },
    ]

    static let doneReply = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"

    private struct StreamFailure: Error {}

    private static func failing(after pieces: [Data]) -> AsyncThrowingStream<Data, any Error> {
        let left = Lock(pieces[...])
        return AsyncThrowingStream {
            guard let piece = left.withLock({ $0.popFirst() }) else { throw StreamFailure() }
            return piece
        }
    }

    private static func received(_ content: Data, as body: HTTP.Body, on subject: ConformanceSubject) async throws {
        let peer = try subject.serve { _ in .ok("done") }
        _ = try await subject.client().success(HTTP.Request(method: .POST, url: peer.url("/"), body: body))
        try expectBytes(peer.onlyRequest().body, content)
    }

    /// Expects that the fetch is refused because of its body, and that the server never reads it as complete:
    /// neither its own body nor, as its body, the bytes of the next request.
    private static func neverArrives(
        _ stream: HTTP.Body.Stream,
        on subject: ConformanceSubject,
        because isReason: (any Error) -> Bool
    ) async throws {
        let server = try ScriptedServer.responding { _ in .ok("done") }
        let client = try subject.client()
        let request = try HTTP.Request(method: .POST, url: server.url("/broken"), body: .stream(stream))
        let refusal = try await client.refusal(request)
        guard case .requestBody(let error, _) = refusal, isReason(error) else {
            throw ConformanceFailure("expected the stream's error, saw \(refusal)")
        }
        _ = try await client.get(server.url("/after"))
        let snapshot = try await server.waitUntil { snapshot in
            snapshot.connections.allSatisfy { $0.state != .open || $0.requests.last?.path == "/after" }
        }
        try expectEqual(snapshot.requests.filter(\.isComplete).map(\.path), ["/after"], "whole requests")
    }
}
