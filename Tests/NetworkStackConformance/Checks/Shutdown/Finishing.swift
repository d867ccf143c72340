import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Stacks that finish.
    static let finishing: [ConformanceCheck] = [
        ConformanceCheck("A finishing stack ends running fetches and retries and accepts no more") {
            subject in
            let (held, last, tally, asked) = (Latch(), Latch(), Tally(), Lock<Set<String>>([]))
            let peer = try subject.serve { request in
                tally.enter()
                held.wait()
                if request.path == "/3" { last.wait() }
                return asked.withLock { $0.insert(request.path).inserted } ? .status(503) : .ok("done")
            }
            defer {
                held.open()
                last.open()
            }
            var configuration = Network.Configuration()
            configuration.interceptors = [HTTPRetryPolicy.maxRetries(1)]
            let (stack, finish) = try subject.makeFinishing(configuration)
            let observations = try (1...3).map { try stack.observe(peer.url("/\($0)")) }
            try await eventually("the server has the requests") { tally.current == 3 }
            let hasFinished = Lock(false)
            // Every waiter returns, not only the last.
            let finishing = (1...3).map { _ in
                Task {
                    await finish(.seconds(50))
                    hasFinished.withLock { $0 = true }
                }
            }
            // Until then, the fetched resource has no request to send.
            try await bounded { while try await !isRefused(stack) {} }
            try expect(observations.allSatisfy { !$0.isCompleted }, "A fetch has ended")
            held.open()
            for (index, observation) in observations.enumerated() {
                if index == 2 {
                    try await Task.sleep(for: .milliseconds(50))
                    try expect(!hasFinished.withLock { $0 }, "The stack finished before the last fetch")
                    last.open()
                }
                try expectEqual(try await observation.onlyOutcome().text(), "done", "the body")
            }
            try await bounded { for waiter in finishing { await waiter.value } }
        },
        ConformanceCheck("A finishing stack waits no longer than its limit or its caller") { subject in
            for isCancelled in [false, true] {
                let (peer, held) = try subject.serveLate()
                defer { held.open() }
                let (stack, finish) = try subject.makeFinishing(.init())
                let observation = try stack.observe(peer.url("/"))
                let finishing = Task { await finish(isCancelled ? .seconds(50) : .milliseconds(100)) }
                if isCancelled { finishing.cancel() }
                try await bounded { await finishing.value }
                try expect(!observation.isCompleted, "the fetch has ended")
                held.open()
                try expectEqual(try await observation.onlyOutcome().text(), "late", "the body")
                // No fetch remains.
                try await bounded { await finish(.seconds(50)) }
            }
        },
    ]

    /// Whether the stack accepts no more fetches.
    private static func isRefused(_ stack: ConformanceSubject.Stack) async throws -> Bool {
        struct Unmade: Error {}
        let unmade = ConformanceSubject.Stack.Resource(
            baseRequestMaking: .init { handler in handler(.failure(Unmade())) }
        )
        guard case .failure(.shutDown) = try await stack.observe(unmade).onlyOutcome() else { return false }
        return true
    }
}
