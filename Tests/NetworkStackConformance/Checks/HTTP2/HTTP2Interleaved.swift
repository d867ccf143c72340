import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let needsFrames: Set<HTTP.Capability> = [.network, .http2PriorKnowledge, .strictReplies]

    /// Streams of one connection whose frames come in any order, cut anywhere.
    static let interleavedStreams: [ConformanceCheck] = [
        ConformanceCheck("Interleaved HTTP/2 streams each end with all their bytes", needs: needsFrames) { subject in
            for seed in UInt64(1)...40 {
                var random = SeededRandom(seed: seed)
                let answers = InterleavedAnswers(using: &random)
                let server = try http2Server { _ in answers.steps }
                let client = try subject.http2Client { $0.timeouts.idle = .seconds(5) }
                // Some versions of libcurl share a connection once it has answered.
                _ = try await client.get(server.url())
                try await together(answers.count) { _ in
                    let fetched = try await client.get(server.url())
                    let size = fetched.response.headers["X-Size"]
                    try expectEqual(size, "\(fetched.value.count)", "bytes with seed \(seed)")
                }
            }
        },
        ConformanceCheck(
            "Interleaved HTTP/2 streams each end with their trailers",
            needs: needsHTTP2.union([.trailers])
        ) {
            subject in
            for sendsContentLength in [true, false] {
                var options = NghttpdServer.Options()
                options.trailers = [("x-checksum", "abc")]
                options.sendsContentLength = sendsContentLength
                let (nghttpd, client) = try await nghttpd(subject, options)
                for round in 1...3 {
                    try await together(60) { number in
                        let (name, size) = [("64k", 65_536), ("1k", 1024), ("1m", 1 << 20)][(number + round) % 3]
                        let fetched = try await client.get(nghttpd.url("/bytes/\(name)"), headers: [.te: "trailers"])
                        try expectBytes(fetched.value, BytePattern.bytes(size), name)
                        try expectEqual(fetched.response.trailers?["X-Checksum"], "abc", "the trailer of \(name)")
                    }
                }
            }
        },
    ]
}

/// The responses on 2 to 5 streams, 60,000 bytes at most together, in frames of random sizes and in a random order.
private struct InterleavedAnswers {
    let count: Int
    let steps: [ScriptedServer.Step]

    init(using random: inout SeededRandom) {
        let count = Int.random(in: 2...5, using: &random)
        self.count = count
        let announcesLengths = Bool.random(using: &random)
        let longest = [200, 9_000, 16_384].randomElement(using: &random) ?? 16_384
        var waiting = (0..<count).map { place in
            let size = Int.random(in: 0...(60_000 / count), using: &random)
            return Self.frames(
                on: UInt32(3 + 2 * place),
                size: size,
                longest: longest,
                announcesLength: announcesLengths,
                using: &random
            )[...]
        }
        var pieces: [[HTTP2Frame]] = [[]]
        let isCut = Bool.random(using: &random)
        while let place = waiting.indices.filter({ !waiting[$0].isEmpty }).randomElement(using: &random) {
            for _ in 0..<Int.random(in: 1...4, using: &random) where !waiting[place].isEmpty {
                pieces[pieces.count - 1].append(waiting[place].removeFirst())
            }
            if isCut, .random(in: 0..<4, using: &random) == 0 { pieces.append([]) }
        }
        steps =
            [.answerStream] + Array(repeating: .receiveStream, count: count)
            + pieces.filter { !$0.isEmpty }.map { .send($0) }
            + [.waitForClose]
    }

    private static func frames(
        on stream: UInt32,
        size: Int,
        longest: Int,
        announcesLength: Bool,
        using random: inout SeededRandom
    ) -> [HTTP2Frame] {
        let length = announcesLength ? [("content-length", "\(size)")] : []
        var frames = [HTTP2Frame.head(200, [("x-size", "\(size)")] + length, on: stream)]
        var rest = size
        while rest > 0 {
            let part =
                Bool.random(using: &random) ? min(rest, longest) : .random(in: 1...min(rest, longest), using: &random)
            rest -= part
            frames.append(HTTP2Frame(.data, stream: stream, [UInt8](repeating: 1, count: part)))
        }
        frames.append(.data("", on: stream, endsStream: true))
        return frames
    }
}
