import CurlStack
import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("Data of a paused stream", .serialized, .timeLimit(.minutes(1)))
struct HeldStreamTests {
    /// libcurl before 8.1 reads the data of the paused stream, and leaves the data after it unread.
    @Test("delays no other stream on its connection", arguments: [16_384, 20_000, 32_000, 40_000, 50_000, 64_000])
    func others(count: Int) async throws {
        let isFull = Gate()
        let server = try ScriptedServer { _ in
            [
                .beginHTTP2, .answerStream, .receiveStream,
                .send([.head(200, on: 3)] + content(400_000, on: 3)), .open(isFull), .receiveStream,
                .send(content(count, on: 3) + [.head(200, on: 5), .data("other", on: 5, endsStream: true)]),
                .waitForClose,
            ]
        }
        var configuration = Network.Configuration()
        configuration.options.version = .http2PriorKnowledge
        configuration.options.timeouts.idle = .seconds(8)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let resource = try get(server.url())
        _ = try await stack.fetch(resource: resource)
        let held = try await stack.streaming.fetch(resource: resource).value
        try await isFull.opened()
        try await Task.sleep(for: .milliseconds(100))
        #expect(try await stack.fetch(resource: resource).value == Data("other".utf8))
        withExtendedLifetime(held) {}
    }

    /// The loop must not go on looking at a connection after its paused stream is cancelled.
    @Test("uses no processor time after its stream is cancelled")
    func afterwards() async throws {
        let isFull = Gate()
        let server = try ScriptedServer { _ in
            [
                .beginHTTP2, .answerStream, .receiveStream,
                .send([.head(200, on: 3)] + content(400_000, on: 3)), .open(isFull), .answerStream, .waitForClose,
            ]
        }
        let other = try ScriptedServer { _ in [.beginHTTP2, .repeat([.answerStream])] }
        var configuration = Network.Configuration()
        configuration.options.version = .http2PriorKnowledge
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let resource = try get(server.url())
        _ = try await stack.fetch(resource: resource)
        do {
            let held = try await stack.streaming.fetch(resource: resource).value
            try await isFull.opened()
            try await Task.sleep(for: .milliseconds(100))
            _ = try await stack.fetch(resource: resource)
            withExtendedLifetime(held) {}
        }
        // These run the loop before its next scheduled read.
        for _ in 1...6 { _ = try await stack.fetch(resource: get(other.url())) }
        try await Task.sleep(for: .milliseconds(100))
        let before = processorTime
        try await Task.sleep(for: .seconds(1))
        #expect(processorTime - before < .milliseconds(200))
        await stack.shutdown()
    }

    private var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private func content(_ count: Int, on stream: UInt32) -> [HTTP2Frame] {
        stride(from: 0, to: count, by: 16_384).map { offset in
            HTTP2Frame(.data, stream: stream, [UInt8](repeating: 1, count: min(16_384, count - offset)))
        }
    }
}
