import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The number of concurrent streams on a connection, as the server's frames show.
    static let limitedStreams: [ConformanceCheck] = [
        ConformanceCheck(
            "A connection never exceeds the server's limit of concurrent streams",
            needs: needsHTTP2.union([.streamedRequestBody]),
            rests: [.rfc(9113, "5.1.2")]
        ) {
            subject in
            let (nghttpd, client) = try await echoing(subject, maxConcurrentStreams: 5)
            // The server's settings come with the first answer.
            _ = try await client.get(nghttpd.url("/bytes/1k"))
            let uploads = try await nghttpd.hold(5, of: 5, client)
            let more = try (1...20).map { _ in try client.stack.observe(nghttpd.url("/bytes/1k")) }
            // Later fetches begin no earlier, so these have tried by then.
            let other = try ScriptedServer.responding { _ in .ok("other") }
            try expectEqual(try await client.stack.text(other.url()), "other", "a fetch from another server")
            try await release(uploads)
            for fetch in more { try expectBytes(await fetch.onlyOutcome().value().value, BytePattern.bytes(1024)) }
            let frames = try await nghttpd.framesAtTheEnd()
            let first = frames.first(where: \.opensStream)?.connection
            try expectEqual(first.flatMap { mostStreams(in: frames)[$0] }, 5, "the most streams at a time")
        },
        ConformanceCheck("Fetches beyond the stack's stream limit are queued", needs: needsLimits) {
            subject in
            let (nghttpd, client) = try await echoing(subject) { $0.connections.streamsPerConnection = 5 }
            _ = try await client.get(nghttpd.url("/bytes/1k"))
            try await release(nghttpd.hold(5, of: 20, client))
            let most = mostStreams(in: try await nghttpd.framesAtTheEnd())
            try expectEqual(Array(most.values), [5], "the most streams at a time, of each connection")
        },
        ConformanceCheck("A huge stream limit still shares one connection", needs: needsLimits) {
            subject in
            for limit in [1 << 32, Int.max] {
                let (nghttpd, client) = try await echoing(subject) { configuration in
                    configuration.connections.streamsPerConnection = limit
                    configuration.connections.total = limit
                }
                _ = try await client.get(nghttpd.url("/bytes/1k"))
                try await release(nghttpd.hold(20, of: 20, client))
                let most = mostStreams(in: try await nghttpd.framesAtTheEnd())
                try expectEqual(Array(most.values), [20], "the most streams at a time, of each connection")
            }
        },
        ConformanceCheck(
            "A new connection never exceeds the stack's limit of concurrent streams",
            needs: needsLimits
        ) { subject in
            let (nghttpd, client) = try await echoing(subject) { $0.connections.streamsPerConnection = 5 }
            try await release(nghttpd.hold(5, of: 20, client))
            let most = mostStreams(in: try await nghttpd.framesAtTheEnd())
            try expectEqual(most.values.max(), 5, "the most streams that a connection had at a time: \(most)")
        },
    ]

    private static let needsLimits = needsHTTP2.union([.streamsPerConnection, .streamedRequestBody])

    private static func echoing(
        _ subject: ConformanceSubject,
        maxConcurrentStreams: Int? = nil,
        _ configure: (inout Network.Configuration) throws -> Void = { _ in }
    ) async throws -> (NghttpdServer, BoundedClient) {
        var options = NghttpdServer.Options()
        options.echoesUploads = true
        options.maxConcurrentStreams = maxConcurrentStreams
        return try await nghttpd(subject, options, configure)
    }
}

extension NghttpdServer {
    /// Begins uploads, and returns when a connection has that many at a time.
    fileprivate func hold(_ full: Int, of count: Int, _ client: BoundedClient) async throws -> [HeldUpload] {
        let uploads = try (1...count).map { _ in try HeldUpload(client, to: url("/echo")) }
        try await waitForFrames { (mostStreams(in: $0).values.max() ?? 0) >= full }
        return uploads
    }

    /// Every frame, once all streams have ended.
    fileprivate func framesAtTheEnd() async throws -> [LoggedFrame] {
        try await waitForFrames { frames in
            Set(frames.filter(\.opensStream).map(\.place)).isSubset(of: frames.filter(\.endsStream).map(\.place))
        }
    }
}

/// Releases all uploads before it awaits any, as they may wait for one another.
private func release(_ uploads: [HeldUpload]) async throws {
    for upload in uploads { upload.release() }
    for upload in uploads { try expectBytes(await upload.fetch.onlyOutcome().value().value, HeldUpload.content) }
}

/// The most streams that each connection had at a time.
private func mostStreams(in frames: [LoggedFrame]) -> [Int: Int] {
    var (open, most) = ([Int: Set<Int>](), [Int: Int]())
    for frame in frames {
        if frame.opensStream { open[frame.connection, default: []].insert(frame.stream) }
        if frame.endsStream { open[frame.connection]?.remove(frame.stream) }
        if let count = open[frame.connection]?.count {
            most[frame.connection] = max(most[frame.connection] ?? 0, count)
        }
    }
    return most
}

extension LoggedFrame {
    /// The connection and number of a stream.
    fileprivate var place: [Int] { [connection, stream] }

    fileprivate var opensStream: Bool { type == "HEADERS" && direction == .received }

    /// Whether it is the last frame of a response, or a reset.
    fileprivate var endsStream: Bool {
        type == "RST_STREAM" || (direction == .sent && (type == "HEADERS" || type == "DATA") && flags & 1 != 0)
    }
}
