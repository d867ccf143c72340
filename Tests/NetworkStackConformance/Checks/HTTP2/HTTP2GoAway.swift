import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsFrames: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]

    /// HTTP/2 connections that end, with GOAWAY or without.
    static let goAways: [ConformanceCheck] = [
        ConformanceCheck("A request that GOAWAY excludes is sent again", needs: needsFrames, rests: [.rfc(9113, "6.8")])
        {
            subject in
            // GOAWAY names the last processed stream: none (RFC 9113 section 6.8). Safe for a POST, too.
            for body in [
                HTTP.Body.bytes(Data("hello".utf8)), .stream(.init { AsyncStream([Data("hello".utf8)]) }), .none,
            ] {
                let server = try http2Server { index in
                    index == 0
                        ? [.receiveStream, .send([.goAway(lastStream: 0)]), .close] : [.answerStream, .waitForClose]
                }
                let request = try HTTP.Request(method: .POST, url: server.url(), body: body)
                try expectBytes(await subject.http2Client().success(request).value, "ok".utf8)
                try expectEqual(server.snapshot.accepted, 2, "connections")
            }
        },
        ConformanceCheck(
            "A request that GOAWAY excludes on a keep-alive connection is sent again",
            needs: needsFrames,
            rests: [.rfc(9113, "6.8")]
        ) { subject in
            let (arrived, leaves) = (Gate(), Gate())
            let answer: ScriptedServer.Script = [
                .receiveStream, .send([.head(200, on: 1), .data("ok", on: 1, endsStream: true)]),
            ]
            let server = try http2Server { index in
                index == 0
                    ? answer + [
                        .receiveStream, .open(arrived), .wait(for: leaves), .send([.goAway(lastStream: 1)]), .close,
                    ] : answer + [.waitForClose]
            }
            let other = try http2Server { _ in answer + [.waitForClose] }
            let client = try subject.http2Client()
            try expectBytes(await client.get(server.url()).value, "ok".utf8)
            async let second = client.success(HTTP.Request(method: .POST, url: server.url()))
            // libcurl 7.88 reports the earlier fetch when another one has ended.
            try await arrived.opened()
            try expectBytes(await client.get(other.url()).value, "ok".utf8)
            leaves.open()
            try expectBytes(await second.value, "ok".utf8)
            try expectEqual(server.snapshot.accepted, 2, "connections")
        },
        ConformanceCheck(
            "A one-shot body that has started is not repeated after GOAWAY",
            needs: needsFrames.union([.streamedRequestBody]),
            rests: [.rfc(9113, "6.8")]
        ) { subject in
            let server = try http2Server { index in
                index == 0
                    ? [.receiveStream, .send([.goAway(lastStream: 0)]), .close] : [.answerStream, .waitForClose]
            }
            let once = HTTP.Body.stream(.init(AsyncStream([Data("hello".utf8)])))
            let request = try HTTP.Request(method: .POST, url: server.url(), body: once)
            switch try await subject.http2Client().failure(request) {
            case .bodyNotReplayable, .transport: break
            case let error: throw ConformanceFailure("failed with \(error)")
            }
            for connection in server.snapshot.connections.dropFirst() {
                let text = String(decoding: connection.received, as: UTF8.self)
                try expect(!text.contains("hello"), "The body was sent again: \(text)")
            }
        },
        ConformanceCheck(
            "A POST that GOAWAY counts as processed is not sent again",
            needs: needsFrames,
            rests: [.rfc(9113, "6.8")]
        ) {
            subject in
            let server = try http2Server { _ in [.receiveStream, .send([.goAway(lastStream: 1)]), .close] }
            let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(Data("hello".utf8)))
            _ = try await subject.http2Client().breakdown(request)
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("Gives up after repeated GOAWAY(0)", needs: needsFrames, rests: [.rfc(9113, "6.8")]) {
            subject in
            let server = try http2Server { _ in [.receiveStream, .send([.goAway(lastStream: 0)]), .close] }
            _ = try await subject.http2Client().breakdown(HTTP.Request(url: server.url()))
            try expect((2...10).contains(server.snapshot.accepted), "\(server.snapshot.accepted) connections")
        },
        ConformanceCheck(
            "A stream refused by the server is sent again, whatever its method",
            needs: needsFrames,
            rests: [.rfc(9113, "8.7")]
        ) {
            subject in
            let refused: UInt32 = 7
            let server = try http2Server { index in
                index == 0
                    ? [.receiveStream, .send([.reset(1, code: refused)]), .waitForClose]
                    : [
                        .receiveStream, .send([.head(200, on: 1), .data("ok", on: 1, endsStream: true)]), .waitForClose,
                    ]
            }
            let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(Data("hello".utf8)))
            try expectBytes(await subject.http2Client().success(request).value, "ok".utf8)
        },
        ConformanceCheck(
            "A body refused before its first window is sent whole",
            needs: needsFrames,
            rests: [.rfc(9113, "8.7")]
        ) { subject in
            let windows = [0, 0xFFFF].map { HTTP2Frame(.settings, [0, 4, 0, 0, UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
            let content = String(repeating: "content ", count: 200)
            let stream = HTTP.Body.Stream { AsyncStream([Data(content.utf8)]) }
            for body in [HTTP.Body.bytes(Data(content.utf8)), .stream(stream)] {
                let server = try http2Server { index in
                    guard index == 0 else { return [.answerStream, .waitForClose] }
                    return [
                        .receiveStream,
                        .send([windows[0], .head(200, on: 1), .data("ok", on: 1, endsStream: true)]),
                        .run { try $0.receiveHeaders() }, .pause(.milliseconds(100)),
                        .send([windows[1], .reset(3, code: 7)]), .answerStream, .waitForClose,
                    ]
                }
                let client = try subject.http2Client()
                let request = try HTTP.Request(method: .PUT, url: server.url(), body: body)
                for _ in 1...2 { try expectBytes(await client.success(request).value, "ok".utf8) }
                let received = server.snapshot.connections.map { String(decoding: $0.received, as: UTF8.self) }
                let count = received.reduce(0) { $0 + $1.ranges(of: content).count }
                try expectEqual(count, 2, "complete bodies received")
            }
        },
        ConformanceCheck(
            "A POST with a broken response over keep-alive HTTP/2 is not repeated",
            needs: needsFrames
        ) { subject in
            let whole: [HTTP2Frame] = [.head(200, [("content-length", "2")], on: 3), .data("ok", on: 3)]
            let ends: [[HTTP2Frame]] = [
                whole + [.reset(3, code: 0)], [.head(200, on: 3), .reset(3, code: 0)],
                // No field has the number 0 (RFC 7541 section 6.1).
                [HTTP2Frame(.headers, flags: HTTP2Frame.endHeaders, stream: 3, [0x80])],
                [.data("ok", on: 3)], [HTTP2Frame(.settings, [0, 5, 0, 0, 0, 0])],
            ]
            for frames in ends {
                let server = try http2Server { index in
                    guard index == 0 else { return [.answerStream, .waitForClose] }
                    return [
                        .receiveStream, .send([.head(200, on: 1), .data("ok", on: 1, endsStream: true)]),
                        .receiveStream, .send(frames), .close,
                    ]
                }
                let client = try subject.http2Client()
                try expectBytes(await client.get(server.url("/first")).value, "ok".utf8)
                let content = HTTP.Body.bytes(Data("once and no more".utf8))
                // Whether the answer counts is another question.
                _ = try await client.outcome(of: HTTP.Request(method: .POST, url: server.url("/second"), body: content))
                let received = server.snapshot.connections.map { String(decoding: $0.received, as: UTF8.self) }
                let count = received.reduce(0) { $0 + $1.ranges(of: "once and no more").count }
                try expectEqual(count, 1, "bodies received, answered with \(frames)")
            }
        },
        ConformanceCheck("A dead keep-alive HTTP/2 connection repeats a GET and no POST", needs: needsFrames) {
            subject in
            for (method, isRepeated) in [(HTTP.Method.GET, true), (.POST, false)] {
                let server = try http2Server { index in
                    let answer = ScriptedServer.Step.send([.head(200, on: 1), .data("ok", on: 1, endsStream: true)])
                    return index == 0
                        ? [.receiveStream, answer, .receiveStream, .close] : [.receiveStream, answer, .waitForClose]
                }
                let client = try subject.http2Client()
                try expectBytes(await client.get(server.url("/first")).value, "ok".utf8)
                let request = try HTTP.Request(method: method, url: server.url("/second"))
                if isRepeated {
                    try expectBytes(await client.success(request).value, "ok".utf8)
                } else {
                    _ = try await client.breakdown(request)
                }
                try expectEqual(server.snapshot.accepted, isRepeated ? 2 : 1, "connections of \(method)")
            }
        },
        ConformanceCheck(
            "A GET whose response has begun is not repeated over HTTP/2",
            needs: needsFrames
        ) { subject in
            let begun: [[HTTP2Frame]] = [
                [.head(103, on: 3)], [.head(200, on: 3)], [.head(200, on: 3), .data("o", on: 3)],
            ]
            for frames in begun {
                let server = try http2Server { index in
                    let answer = ScriptedServer.Step.send([.head(200, on: 1), .data("ok", on: 1, endsStream: true)])
                    return index == 0
                        ? [.receiveStream, answer, .receiveStream, .send(frames), .close]
                        : [.receiveStream, answer, .waitForClose]
                }
                let client = try subject.http2Client()
                try expectBytes(await client.get(server.url("/first")).value, "ok".utf8)
                _ = try await client.breakdown(HTTP.Request(url: server.url("/second")))
                try expectEqual(server.snapshot.accepted, 1, "connections")
            }
        },
    ]
}
