import NetworkStack

/// A real server in the foreground with its directory and its log. Starting waits until it listens; stopping waits until it has
/// ended.
final class ServerProcess: Sendable {
    /// The command of one run.
    struct Launch: Sendable {
        var program: Program
        var arguments: [String]
        var environment: [String: String] = [:]
    }

    let name: String
    let folder: TemporaryDirectory
    private let process = Lock<ChildProcess?>(nil)
    private let chosenPorts = Lock<[UInt16]>([])

    /// Makes the directory, with `ServedFiles` in it if the server serves them.
    init(_ name: String, servesFiles: Bool = false) throws {
        self.name = name
        folder = try TemporaryDirectory(name)
        if servesFiles { try ServedFiles.write(into: folder) }
    }

    deinit { stop() }

    /// The ports of the first successful start; kept for later ones.
    var ports: [UInt16] { chosenPorts.withLock { $0 } }

    var isRunning: Bool { process.withLock { $0 }?.isRunning ?? false }

    /// The server's output since its last start.
    var output: String { WrittenFile(path: folder.file("output")).text }

    /// The whole lines of the output. A program may write a line in pieces, and the last one may still be on its way.
    var lines: [Substring] {
        output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().filter { !$0.isEmpty }
    }

    /// Starts on `portCount` free ports, or again on the previous ones. Returns once all of them, and the Unix sockets, accept
    /// connections.
    ///
    /// Throws `TestServerError` with the end of the log if the server ends or does not listen within `limit`.
    func start(
        portCount: Int,
        unixSockets: [Loopback] = [],
        within limit: Duration = .seconds(15),
        launch: ([UInt16]) throws -> Launch
    ) async throws {
        if isRunning { return }
        // A free port may be taken before the server binds it; then other ports are tried.
        for round in 1...5 {
            let old = ports
            let ports = old.isEmpty ? try LoopbackSocket.freePorts(portCount) : old
            do {
                try await run(launch(ports), within: limit) {
                    ports.allSatisfy { LoopbackSocket.isListening($0) }
                        && unixSockets.allSatisfy { LoopbackSocket.isListening(0, on: $0) }
                }
                return chosenPorts.withLock { $0 = ports }
            } catch  where isAddressTaken && round < 5 {
                if !old.isEmpty { try await Task.sleep(for: .milliseconds(100)) }
            }
        }
    }

    /// Starts a server that chooses its port, and returns once `isReady` returns `true`.
    func run(_ launch: Launch, within limit: Duration, isReady: () -> Bool) async throws {
        stop()
        let child = try ChildProcess(
            launch.program.path,
            launch.arguments,
            in: folder.path,
            output: folder.file("output"),
            environment: launch.environment
        )
        process.withLock { $0 = child }
        let deadline = ContinuousClock.now + limit
        do {
            while !isReady() || isAddressTaken {
                if isAddressTaken || !child.isRunning { throw failure("it exited") }
                if ContinuousClock.now >= deadline { throw failure("it was not listening after \(limit)") }
                try await Task.sleep(for: .milliseconds(3))
            }
        } catch {
            stop()
            throw error
        }
    }

    /// Keeps the port that a server chose, so that a later start uses it again.
    func keep(ports: [UInt16]) { chosenPorts.withLock { $0 = ports } }

    /// Kills the server with SIGKILL (its clients see a reset or FIN) and waits for its end.
    ///
    /// `start` may follow.
    func stop() {
        let child = process.withLock { process in
            defer { process = nil }
            return process
        }
        child?.stop()
    }

    /// Suspends until `condition` accepts what `read` returns, and returns that; throws `WaitTimedOut` after `limit`.
    func wait<Value>(
        within limit: Duration,
        for read: () throws -> Value,
        until condition: (Value) -> Bool
    ) async throws -> Value {
        let deadline = ContinuousClock.now + limit
        while true {
            let isLast = ContinuousClock.now >= deadline
            let value = try read()
            if condition(value) { return value }
            if isLast { throw WaitTimedOut(limit: limit, seen: "\(value)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private var isAddressTaken: Bool { output.contains("ddress already in use") }

    private func failure(_ reason: String) -> TestServerError {
        let log = output.split(separator: "\n", omittingEmptySubsequences: false).suffix(20).joined(separator: "\n")
        return TestServerError.failedToStart(server: name, reason: reason, log: log)
    }
}
