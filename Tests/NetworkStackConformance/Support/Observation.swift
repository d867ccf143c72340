import Dispatch
import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting

/// The result of a fetch on a stack under test.
typealias Outcome = Result<Network.Value<Data, HTTP.Response>, HTTPFetchError<HTTP.Response, any Error>>

/// Captured only by a completion: when it is freed, the completion can no longer be called.
final class Lifetime: Sendable {
    private let ended: Gate
    init(_ ended: Gate) { self.ended = ended }
    deinit { ended.open() }
}

/// A fetch under observation: its results, their number and time, and whether the stack has released its completion.
final class Observation: Sendable {
    private struct State {
        var outcomes: [Outcome] = []
        var elapsed: Duration = .zero
        var hasReturned = false
        var wasCalledInside = false
        var fetching: (any Cancelable)?
    }

    private let state = Lock(State())
    private let completed = Gate()
    private let released = Gate()
    private let startedAt = ContinuousClock.now

    init(
        _ resource: ConformanceSubject.Stack.Resource,
        on stack: ConformanceSubject.Stack,
        onCompletion: @escaping @Sendable (Outcome) -> Void
    ) {
        let life = Lifetime(released)
        let caller = pthread_self()
        let fetching = stack.fetch(resource: resource) { [self] outcome in
            withExtendedLifetime(life) {
                state.withLock { state in
                    if state.outcomes.isEmpty { state.elapsed = .now - startedAt }
                    state.outcomes.append(outcome)
                    if !state.hasReturned, pthread_equal(caller, pthread_self()) != 0 { state.wasCalledInside = true }
                }
                onCompletion(outcome)
                completed.open()
            }
        }
        state.withLock { state in
            state.hasReturned = true
            state.fetching = fetching
        }
    }

    /// Cancels the fetch.
    func cancel() { state.withLock { $0.fetching }?.cancel() }

    /// Whether the fetch has completed.
    var isCompleted: Bool { completed.isOpen }

    /// From the call of `fetch` to the first completion.
    var elapsed: Duration { state.withLock { $0.elapsed } }

    /// The time of the first completion.
    var completedAt: ContinuousClock.Instant { startedAt + elapsed }

    /// Waits for the completion.
    ///
    /// - Throws: ``ConformanceFailure`` if it does not come in time, or came while `fetch` was running.
    func outcome(
        within limit: Duration = .seconds(15),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Outcome {
        let limit = Patience.limit(limit)
        do { try await completed.opened(within: limit) } catch is WaitTimedOut {
            throw ConformanceFailure("The completion was not called within \(limit)", file: file, line: line)
        }
        let (first, wasCalledInside) = state.withLock { ($0.outcomes.first, $0.wasCalledInside) }
        try expect(!wasCalledInside, "The completion was called before fetch had returned", file: file, line: line)
        guard let first else {
            throw ConformanceFailure("The completion was called without an outcome", file: file, line: line)
        }
        return first
    }

    /// Waits for the completion and until the stack has released it, and expects that it was called once. Before the release,
    /// another call could still come.
    func onlyOutcome(
        within limit: Duration = .seconds(15),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Outcome {
        let first = try await outcome(within: limit, file: file, line: line)
        do { try await released.opened(within: .seconds(10)) } catch is WaitTimedOut {
            throw ConformanceFailure(
                "The stack retains the completion of a fetch that has ended",
                file: file,
                line: line
            )
        }
        let count = state.withLock { $0.outcomes.count }
        try expect(count == 1, "The completion was called \(count) times", file: file, line: line)
        return first
    }
}

extension ConformanceSubject.Stack {
    /// Starts a fetch under observation.
    func observe(_ resource: Resource, onCompletion: @escaping @Sendable (Outcome) -> Void = { _ in }) -> Observation {
        Observation(resource, on: self, onCompletion: onCompletion)
    }

    /// Starts a fetch of a URL under observation.
    func observe(
        _ url: String,
        method: HTTP.Method = .GET,
        headers: HTTP.Headers = [:],
        body: HTTP.Body = .none,
        options: HTTP.Options? = nil
    ) throws -> Observation {
        let request = try HTTP.Request(method: method, url: url, headers: headers, body: body)
        return observe(Resource(baseRequestMaking: .request(request), options: options?.replacing))
    }

    /// Fetches a URL, expects a success, and returns its body as text.
    @discardableResult
    func text(
        _ url: String,
        within limit: Duration = .seconds(15),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> String {
        try await observe(url).outcome(within: limit, file: file, line: line).text(file: file, line: line)
    }
}

/// A latch for code that may block, such as a server's handler. Once opened it stays open; it is opened at the latest when it is
/// freed.
final class Latch: Sendable {
    private let group = DispatchGroup()
    private let isOpen = Lock(false)

    init() { group.enter() }

    deinit { open() }

    func open() {
        let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = true }
            return !isOpen
        }
        if isFirst { group.leave() }
    }

    /// Blocks until the latch is open; returns whether it opened in time.
    @discardableResult
    func wait(seconds: Double = 20) -> Bool { group.wait(timeout: .now() + seconds) == .success }
}
