import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A few bytes that expand to very many delay no other fetch, even where the body is dropped.
    static let compressionBombs: [ConformanceCheck] = [
        ConformanceCheck("A redirect's decompression bomb delays no other fetch", needs: needs) { subject in
            try await delaysNoOther(
                Reply.status(
                    302,
                    bytes: Compressed.zstdOfLargerZstdBomb,
                    headers: [("Location", "/next"), ("Content-Encoding", "zstd, zstd")]
                ),
                on: subject
            ) { outcome in
                guard case .success(let fetched) = outcome else {
                    throw ConformanceFailure("the redirect was not followed: \(outcome)")
                }
                try expectBytes(fetched.value, "next".utf8)
            }
        },
        ConformanceCheck(
            "The body of an unfollowed redirect may grow like any other",
            needs: needs
        ) { subject in
            let members = 65  // One mebibyte: more than the limit for the body of a followed redirect.
            let content = Array((0..<members).map { _ in Compressed.bomb }.joined())
            let peer = try ScriptedServer.responding { _ in
                .status(302, bytes: content, headers: [("Location", "/next"), ("Content-Encoding", "gzip")])
            }
            let client = try subject.client { $0.options.redirects.limit = 0 }
            let count = Lock(0)
            let decoding = BoundedClient.ErrorDecoding { payload, _ in
                count.withLock { $0 = payload?.count ?? 0 }
                return nil
            }
            let failure = try await client.failure(HTTP.Request(url: peer.url("/")), decoding: decoding)
            guard case .http(.found, _, _) = failure else { throw ConformanceFailure("saw \(failure)") }
            try expectEqual(count.withLock { $0 }, members * Compressed.bombSize, "the body's length")
        },
        ConformanceCheck("A nested bomb that decodes to nothing delays no other fetch", needs: needs) {
            subject in
            let codings = Array(repeating: "zstd", count: 4).joined(separator: ", ")
            try await delaysNoOther(
                Reply.ok(bytes: Compressed.emptyZstdBomb, headers: [("Content-Encoding", codings)]),
                on: subject
            ) { outcome in
                guard case .failure(.decompressionRatio) = outcome else {
                    throw ConformanceFailure("expected a refusal for the ratio, saw \(outcome)")
                }
            }
        },
        ConformanceCheck(
            "A bomb in one piece is refused and delays no other fetch",
            needs: needs,
            rests: [.rfc(8878, "3.1.1.2")]
        ) {
            subject in
            // A frame of blocks that repeat one byte 128 KiB times each (RFC 8878 section 3.1.1.2): 128 MiB in 4 KiB.
            var bomb: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3]
            for number in 1...1024 {
                let head = UInt32(128 << 10) << 3 | 1 << 1 | (number == 1024 ? 1 : 0)
                bomb += (0..<3).map { UInt8(truncatingIfNeeded: head >> (8 * $0)) } + [0x78]
            }
            try await delaysNoOther(
                Reply.ok(bytes: bomb, headers: [("Content-Encoding", "zstd")]),
                limit: 1 << 30,
                on: subject
            ) { outcome in
                guard case .failure(.decompressionRatio) = outcome else {
                    throw ConformanceFailure("expected a refusal for the ratio, saw \(outcome)")
                }
            }
        },
    ]

    private static let needs: Set<HTTP.Capability> = [.network, .decompression, .decompressionRatio]

    /// Fetches a bomb and another resource at the same time.
    private static func delaysNoOther(
        _ bomb: Reply,
        limit: Int64 = 1000,
        on subject: ConformanceSubject,
        _ judge: (BoundedClient.Outcome) throws -> Void
    ) async throws {
        let sent = Gate()
        let peer = try ScriptedServer.responding { request in
            switch request.path {
            case "/bomb": return bomb.then(.open(sent))
            default: return .ok(String(request.path.dropFirst()))
            }
        }
        let client = try subject.client { $0.options.limits.body = limit }
        _ = try await client.get(peer.url("/first"))
        try needsOffer(of: "zstd", in: peer.requests)
        async let outcome = client.outcome(of: HTTP.Request(url: peer.url("/bomb")))
        try await sent.opened()
        try await bounded(.seconds(2)) { _ = try await client.get(peer.url("/other")) }
        try judge(await outcome)
    }
}
