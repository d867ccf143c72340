import Dispatch
import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting

/// What a fetch on a stack under proof ended with.
typealias Outcome = Result<Network.Value<Data, HTTP.Response>, HTTPFetchError<HTTP.Response, any Error>>

/// Captured by a completion and by nothing else, it tells by its end that nobody can call the completion any more.
final class Lifetime: Sendable {
    private let ended: Gate
    init(_ ended: Gate) { self.ended = ended }
    deinit { ended.open() }
}

/// A fetch under observation: what it completed with, how often, when, and whether the stack has let go of it.
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

    /// When the first completion came.
    var completedAt: ContinuousClock.Instant { startedAt + elapsed }

    /// Waits for the completion.
    ///
    /// - Throws: ``ConformanceFailure`` if it does not come in time, or came while `fetch` was running.
    func outcome(
        within limit: Duration = .seconds(15),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Outcome {
        do { try await completed.opened(within: limit) } catch is WaitTimedOut {
            throw ConformanceFailure("The completion did not come within \(limit)", file: file, line: line)
        }
        let (first, wasCalledInside) = state.withLock { ($0.outcomes.first, $0.wasCalledInside) }
        try expect(!wasCalledInside, "The completion was called before fetch had returned", file: file, line: line)
        guard let first else {
            throw ConformanceFailure("The completion came without an outcome", file: file, line: line)
        }
        return first
    }

    /// Waits for the completion and until the stack has let go of it, and expects that it was called once.
    ///
    /// The release is what makes "once" provable: before it, another call could still come.
    func onlyOutcome(
        within limit: Duration = .seconds(15),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Outcome {
        let first = try await outcome(within: limit, file: file, line: line)
        do { try await released.opened(within: .seconds(10)) } catch is WaitTimedOut {
            throw ConformanceFailure("The stack keeps the completion of a fetch that has ended", file: file, line: line)
        }
        let count = state.withLock { $0.outcomes.count }
        try expect(count == 1, "The completion was called \(count) times", file: file, line: line)
        return first
    }
}

extension ConformanceSubject.Stack {
    /// Fetches under observation.
    func observe(_ resource: Resource, onCompletion: @escaping @Sendable (Outcome) -> Void = { _ in }) -> Observation {
        Observation(resource, on: self, onCompletion: onCompletion)
    }

    /// Fetches a URL under observation.
    func observe(
        _ url: String,
        method: HTTP.Method = .GET,
        headers: HTTP.Headers = [:],
        body: HTTP.Body = .none,
        options: HTTP.Options? = nil
    ) throws -> Observation {
        let request = try HTTP.Request(method: method, url: url, headers: headers, body: body)
        return observe(Resource(baseRequestMaking: .request(request), options: options))
    }

    /// Fetches a URL and expects a success; answers its content as text.
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

/// A door for code that may block, such as a server's handler. It opens once and for good, at the latest when dropped.
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

    /// Blocks until the door is open; answers whether it opened in time.
    @discardableResult
    func wait(seconds: Double = 20) -> Bool { group.wait(timeout: .now() + seconds) == .success }
}
