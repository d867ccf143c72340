import CurlStack
import NetworkStack
import NetworkStackTesting
import Testing

/// From 8.7 on, libcurl comes back from a flood by itself, and keeps its connection.
@Suite(
    "A flood over HTTP/2 in the clear",
    .serialized,
    .timeLimit(.minutes(1)),
    .enabled(if: CurlLibrary.shared.versionNumber < 0x080700)
)
struct FloodGuardTests {
    static let frames: [(name: String, frame: HTTP2Frame)] = [
        ("empty DATA", HTTP2Frame(.data, stream: 1)),
        ("WINDOW_UPDATE", HTTP2Frame(.windowUpdate, stream: 1, [0, 0, 0, 1])),
        ("PING acknowledgements", HTTP2Frame(.ping, flags: HTTP2Frame.endStream, [UInt8](repeating: 1, count: 8))),
    ]

    @Test("fails its fetch and ends its connection", arguments: frames.indices)
    func ends(_ place: Int) async throws {
        let (name, frame) = Self.frames[place]
        let piece = [[UInt8]](repeating: frame.bytes, count: 8192).flatMap(\.self)
        let server = try ScriptedServer { _ in
            [
                .beginHTTP2, .receiveStream, .send([.head(200, on: 1), .data("half", on: 1)]),
                .run { connection in while true { try connection.send(piece) } },
            ]
        }
        var configuration = Network.Configuration()
        configuration.options.version = .http2PriorKnowledge
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let resource = try get(server.url())
        async let failure = failure(of: resource, on: stack)
        // Judged by processor time, which a busy machine may grant late.
        let seen = try await server.waitUntil(within: .seconds(20)) { $0.accepted > 0 && $0.open == 0 }
        #expect(seen.connections.map(\.state) == [.resetByPeer], "\(name)")
        #expect(await failure != nil, "\(name)")
    }

    private func failure(of resource: Network.CurlResource, on stack: Network.CurlNetworkStack) async
        -> HTTP.FailureKind?
    {
        do { _ = try await stack.fetch(resource: resource) } catch { return error.transportFailure }
        return nil
    }
}
