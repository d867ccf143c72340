internal import Dispatch
internal import Synchronization

/// A program around one or more clients: it warms one up, loads it, and prints one line of JSON.
public struct ClientProgram: Sendable {
    private let settings: ClientSettings
    private let client: any BenchmarkClient

    /// Runs the client that the command line names, and prints what it came to. Errors end up in that line, too.
    ///
    /// It blocks its thread, the program's first: the runtime would otherwise end that thread, which valgrind cannot follow.
    ///
    /// - Parameter clients: The program's clients by name.
    public static func run(_ clients: [String: any BenchmarkClient.Type]) {
        let ended = DispatchSemaphore(value: 0)
        Task {
            await run(clients)
            ended.signal()
        }
        ended.wait()
    }

    private static func run(_ clients: [String: any BenchmarkClient.Type]) async {
        do {
            let settings = try ClientSettings()
            guard let type = clients[settings.client] else {
                throw UnexpectedResponse("This program has no client '\(settings.client)'.")
            }
            let client = try await type.init(settings)
            let line = try await ClientProgram(settings: settings, client: client).line()
            print(line)
            await client.shutDown()
        } catch {
            let text = "\(error)".map { $0 == "\"" || $0 == "\\" || $0.isNewline ? "'" : String($0) }.joined()
            print("{\"fetches\":0,\"errors\":1,\"error\":\"\(text)\"}")
        }
    }

    private func line() async throws -> String {
        _ = await phase(fetches: settings.warmUpFetches, milliseconds: settings.warmUpMilliseconds)
        let beforeHolding = ProcessUsage.memory.resident
        let holding = settings.heldCount > 0 ? try await hold() : []
        let whileHolding = ProcessUsage.memory.resident

        let (before, start) = (ProcessUsage.now, ProcessUsage.clock)
        let sum = await phase(fetches: settings.fetches, milliseconds: settings.runMilliseconds)
        let (after, end) = (ProcessUsage.now, ProcessUsage.clock)
        let memory = ProcessUsage.memory
        if !holding.isEmpty, let counter, case let left = counter.count(), left < settings.heldCount {
            throw UnexpectedResponse("The server holds \(left) responses at the end, not \(settings.heldCount).")
        }
        for task in holding { task.cancel() }
        for task in holding { await task.value }

        let error = (sum.firstError ?? "").map { $0 == "\"" || $0 == "\\" || $0.isNewline ? "'" : String($0) }.joined()
        return """
            {"fetches":\(sum.fetches),"errors":\(sum.errors),"error":"\(error)","seconds":\(Double(end - start) / 1e9),\
            "cpu_seconds":\(after.processorTime - before.processorTime),\
            "voluntary_switches":\(after.voluntarySwitches - before.voluntarySwitches),\
            "involuntary_switches":\(after.involuntarySwitches - before.involuntarySwitches),\
            "rss_before":\(beforeHolding),"rss_held":\(whileHolding),"rss_after":\(memory.resident),\
            "rss_peak":\(memory.peak),"latencies":\(sum.latencies.json)}
            """
    }

    // MARK: Load

    private func phase(fetches: Int, milliseconds: Int) async -> Tally.Figures {
        let tally = Tally(fetches: fetches, milliseconds: milliseconds, expected: settings.expected)
        if let client = client as? any CallbackBenchmarkClient {
            await withCheckedContinuation { continuation in
                let lanes = Lanes(settings.inFlight) { continuation.resume() }
                for _ in 0..<settings.inFlight { lanes.next(client, tally, at: ProcessUsage.clock) }
            }
        } else {
            await withTaskGroup { group in
                for _ in 0..<settings.inFlight { group.addTask { await load(tally) } }
            }
        }
        return tally.sum
    }

    private func load(_ tally: Tally) async {
        var now = ProcessUsage.clock
        while tally.takesAnother(at: now) {
            let result: Result<Int, any Error>
            do { result = .success(try await client.fetch(.measured)) } catch { result = .failure(error) }
            now = tally.ended(result, startedAt: now)
        }
    }

    /// Asks the server how many responses it holds.
    private var counter: HeldCounter? { settings.heldCountURL.flatMap { HeldCounter($0) } }

    /// Opens responses that stay open, and waits until the server holds them all.
    private func hold() async throws -> [Task<Void, Never>] {
        let tasks = (0..<settings.heldCount).map { _ in
            Task { [client] in _ = try? await client.fetch(.held) }
        }
        guard let counter else { return tasks }
        for _ in 0..<3600 {
            if counter.count() >= settings.heldCount {
                // The server has answered; what it sent is still to be taken.
                try await Task.sleep(for: .milliseconds(1500))
                return tasks
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw UnexpectedResponse(
            "The server holds \(counter.count()) responses after three minutes, not \(settings.heldCount)."
        )
    }
}

/// As many chains of fetches as are to be under way, each starting its next one from the last one's completion.
private final class Lanes: Sendable {
    private let open: Atomic<Int>
    private let ended: @Sendable () -> Void

    init(_ count: Int, ended: @escaping @Sendable () -> Void) {
        open = Atomic(count)
        self.ended = ended
    }

    func next(_ client: any CallbackBenchmarkClient, _ tally: Tally, at now: UInt64) {
        guard tally.takesAnother(at: now) else {
            if open.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { ended() }
            return
        }
        client.fetch(.measured) { result in
            let then = tally.ended(result, startedAt: now)
            self.next(client, tally, at: then)
        }
    }
}
