import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Heads that are too long for the library below a stack, whose error would not be clear.
    static let headsTooLong: [ConformanceCheck] = [
        ConformanceCheck("A head over 1 MiB is refused before sending", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client()
            let long = String(repeating: "a", count: 1 << 20)
            let many = HTTP.Headers(
                (0..<25_000).map { .init(name: .init("X-\($0)"), value: "0123456789abcdef0123456789abcdef0123") }
            )
            for request in [
                try HTTP.Request(url: server.url(), headers: ["X-Long": long]),
                try HTTP.Request(url: server.url(), headers: many),
            ] {
                // The limit is libcurl's.
                let outcome = try await client.outcome(of: request)
                if case .success = outcome { continue }
                try expectLong(outcome.refusal())
            }
            _ = try await client.get(server.url())
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck(
            "A head over 64 KiB is refused over HTTP/2, keeping the connection",
            needs: needsHTTP2
        ) {
            subject in
            let (nghttpd, client) = try await nghttpd(subject, .init())
            let few = HTTP.Headers(
                (0..<40).map { .init(name: .init("X-\($0)"), value: String(repeating: "a", count: 1500)) }
            )
            let many = HTTP.Headers((0..<5000).map { .init(name: .init("X-\($0)"), value: "") })
            try expectBytes(await client.get(nghttpd.url("/json"), headers: few).value, ServedFiles.json.utf8)
            let long: HTTP.Headers = ["X-Long": String(repeating: "a", count: 65_536)]
            for headers in [long, many] {
                let request = try HTTP.Request(url: nghttpd.url("/json"), headers: headers)
                try expectLong(await client.refusal(request))
            }
            _ = try await client.get(nghttpd.url("/json"))
            let heads = try await nghttpd.waitForFrames { frames in frames.count { isHead($0) } == 2 }.filter(isHead)
            try expectEqual(Set(heads.map(\.connection)).count, 1, "connections")
        },
    ]

    private static func isHead(_ frame: LoggedFrame) -> Bool { frame.type == "HEADERS" && frame.direction == .received }

    private static func expectLong(_ refusal: BoundedClient.FetchError) throws {
        guard case .invalidRequest(let reason) = refusal, reason.contains("bytes") else {
            throw ConformanceFailure("expected an invalid request with the length of its head, saw \(refusal)")
        }
    }
}
