import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

/// A stack's memory does not grow with the number of fetches. Each test runs in a separate process, so that nothing else is
/// counted.
@Suite("Flatness", .serialized)
struct FlatnessTests {
    @Test("20,000 fetches one after the other leave nothing behind", .timeLimit(.minutes(5)))
    func sequential() async {
        await #expect(processExitsWith: .success) { try await Flatness(width: 1).prove(20_000) }
    }

    @Test("20,000 fetches, 64 at a time, leave nothing behind", .timeLimit(.minutes(5)))
    func concurrent() async {
        await #expect(processExitsWith: .success) { try await Flatness(width: 64).prove(20_000) }
    }

    @Test("2,000 stacks, made and dropped, leave nothing behind", .timeLimit(.minutes(5)))
    func stacks() async {
        await #expect(processExitsWith: .success) { try await Flatness(width: 1).proveStacks(2_000) }
    }

    @Test("a stream that is read more slowly than it arrives stays in its buffer", .timeLimit(.minutes(2)))
    func slowReader() async {
        await #expect(processExitsWith: .success) { try await Flatness(width: 1).proveSlowReader(64 << 20) }
    }

    @Test("5,000 connections to a pinned server leave nothing behind", .timeLimit(.minutes(5)))
    func pinnedConnections() async {
        await #expect(processExitsWith: .success) {
            var flatness = try await Flatness(width: 8)
            try await flatness.provePinned(5_000)
        }
    }
}

/// Counts what a process holds, before and after.
private struct Flatness {
    struct Excess: Error, CustomStringConvertible {
        let description: String
    }

    let nginx: NginxServer
    let width: Int
    private var urlText: String

    /// Starts a server in a separate process, so that its growth is not counted.
    init(width: Int) async throws {
        nginx = try NginxServer()
        try await nginx.start()
        self.width = width
        urlText = nginx.httpURL("/bytes/1k")
    }

    /// Each request uses a new connection, and passes both gates.
    mutating func provePinned(_ count: Int) async throws {
        let certificates = try TestCertificates.shared()
        var configuration = Network.Configuration()
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        let pin = try TLSIdentity.publicKeyPins(inFile: certificates.caFile)[0]
        let policy = try PinningPolicy(domainName: "127.0.0.1", pinnedHashes: [pin], enforceBackupPin: false)
        configuration.serverTrust = try ServerTrustConfiguration(pinningPolicies: [policy])
        configuration.options.version = .http1_1
        urlText = nginx.httpsURL("/bytes/1k", host: "127.0.0.1")
        try await prove(count, on: Network.CurlNetworkStack(configuration: configuration), closing: true)
    }

    func prove(_ count: Int) async throws {
        try await prove(count, on: Network.CurlNetworkStack())
    }

    private func prove(_ count: Int, on stack: Network.CurlNetworkStack, closing: Bool = false) async throws {
        try await fetch(count / 4, on: stack, closing: closing)
        try await expectFlat(perFetch: count) { try await fetch(count, on: stack, closing: closing) }
        await stack.shutdown()
    }

    /// Reads more slowly than the server sends, and limits the peak of memory to far less than the body.
    func proveSlowReader(_ length: Int) async throws {
        var options = ScriptedServer.Options()
        options.patience = .seconds(60)
        let server = try ScriptedServer(options) { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"), .sendPattern(length)]
        }
        let stack = try Network.CurlNetworkStack()
        let request = try HTTP.Request(url: server.url())
        let opened = try await stack.streaming.fetch(resource: .init(baseRequestMaking: .request(request)))
        var (count, before) = (0, 0)
        for try await chunk in opened.value {
            count += chunk.count
            if count < length / 8 { before = ProcessProbe.peakResidentBytes() }
            let goesOn = ContinuousClock.now + .nanoseconds(20 * chunk.count)
            while ContinuousClock.now < goesOn {}
        }
        let growth = ProcessProbe.peakResidentBytes() - before
        guard count == length, before > 0, growth < length / 4 else {
            throw Excess(description: "Memory grew by \(growth) bytes while \(count) bytes were read")
        }
        await stack.shutdown()
    }

    func proveStacks(_ count: Int) async throws {
        for _ in 0..<(count / 10) { try await fetchOnce() }
        try await expectFlat(perFetch: count * 10) { for _ in 0..<count { try await fetchOnce() } }
    }

    /// Expects the same work, done again, to leave nothing behind.
    ///
    /// What is kept for each fetch is kept in every round. An allocator takes memory for each thread that waits for a processor, and
    /// so more on a busy machine, but keeps it for the next round. So growth counts only if three rounds in a row show it.
    private func expectFlat(perFetch count: Int, _ work: () async throws -> Void) async throws {
        for round in 1... {
            let before = Holdings()
            try await work()
            // The last threads may still be ending.
            for _ in 0..<500 where Holdings().threads > before.threads { try await Task.sleep(for: .milliseconds(10)) }
            do { return try Holdings().expectNoMore(than: before, perFetch: count) } catch  where round < 3 {}
        }
    }

    private func fetchOnce() async throws {
        let stack = try Network.CurlNetworkStack()
        try await fetch(1, on: stack)
        await stack.shutdown()
    }

    private func fetch(_ count: Int, on stack: Network.CurlNetworkStack, closing: Bool = false) async throws {
        let request = try HTTP.Request(url: urlText, headers: closing ? [.connection: "close"] : [:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    for _ in 0..<(count / width) {
                        let fetched = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
                        guard fetched.value.count == 1024 else { throw Excess(description: "a wrong body") }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    struct Holdings {
        let descriptors: Int
        let threads: Int
        let resident: Int

        init() {
            descriptors = ProcessProbe.openFileDescriptors()
            threads = ProcessProbe.threads()
            resident = ProcessProbe.residentBytes()
        }

        func expectNoMore(than before: Holdings, perFetch count: Int) throws {
            // Memory of connections, worker threads and an allocator varies; a leak per fetch
            // adds up to thousands of blocks.
            let growth = resident - before.resident
            guard descriptors <= before.descriptors + 40, threads <= before.threads + 8, growth < count * 100 else {
                throw Excess(description: "before \(before), after \(self), \(growth / count) bytes per fetch")
            }
        }
    }
}
