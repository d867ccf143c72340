import NetworkStack
import NetworkStackService
import NetworkStackTesting
import ServiceLifecycleTestKit
import Testing

@Suite("A stack as a service", .timeLimit(.minutes(1)))
struct ServiceTests {
    private let clock = VirtualClock()
    private let stack: MockNetworkStack

    init() throws {
        stack = try MockNetworkStack(clock: clock)
        stack.answer(.GET, "/fast", with: .json("{}"))
        stack.answer(.GET, "/slow", with: .json("{}").delayed(by: .seconds(5)))
    }

    /// Fetches, and returns the case of the failure, if it fails.
    private func failure(of path: String) async -> String? {
        do {
            _ = try await stack.data(for: .get("https://host.test\(path)"))
            return nil
        } catch {
            return error.caseName
        }
    }

    /// Runs the service, and a fetch that takes five seconds of the clock.
    ///
    /// - Returns: The failure of the fetch, after the service has ended.
    private func run(
        drainsFor grace: Duration,
        _ end: (GracefulShutdownTestTrigger, Task<Void, Never>) async -> Void
    ) async throws -> String? {
        try await testGracefulShutdown { trigger in
            let serving = Task { await StackService(stack, drainsFor: grace).run() }
            let fetching = Task { await failure(of: "/slow") }
            try await clock.sleepers(1)
            await end(trigger, serving)
            await serving.value
            return await fetching.value
        }
    }

    @Test("at a graceful shutdown, running fetches finish and new ones fail")
    func drain() async throws {
        let ending = try await run(drainsFor: .seconds(3600)) { trigger, _ in
            #expect(await failure(of: "/fast") == nil)
            trigger.triggerGracefulShutdown()
            while await failure(of: "/fast") == nil { await Task.yield() }
            #expect(await failure(of: "/fast") == "shutDown")
            clock.advance(by: .seconds(5))
        }
        #expect(ending == nil)
    }

    @Test("a fetch that has not finished in time fails")
    func deadline() async throws {
        let ending = try await run(drainsFor: .milliseconds(20)) { trigger, _ in trigger.triggerGracefulShutdown() }
        #expect(ending == "shutDown")
    }

    @Test("a cancelled service ends running fetches at once")
    func cancel() async throws {
        let ending = try await run(drainsFor: .seconds(3600)) { _, serving in serving.cancel() }
        #expect(ending == "shutDown")
    }
}
