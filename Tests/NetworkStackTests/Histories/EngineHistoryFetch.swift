import FoundationEssentials
import NetworkStackTesting

@testable import NetworkStack

/// One fetch of an ``EngineHistory``: its allowed outcomes, and its events.
final class EngineHistoryFetch: Sendable {
    typealias Failure = HTTPFetchError<HTTP.Response, HTTPTransferError>
    typealias Stream = ByteStream<Failure>

    enum Intercepting { case running, waiting, ended }

    struct State {
        var handle: (any Cancelable)?
        weak var loop: FetchLoop?
        /// The endings that the model allows after what has happened.
        var allowed: Set<String> = []
        var endings: [String] = []
        /// Whether it was cancelled before its completion.
        var isCancelled = false
        var cancelCount = 0
        /// The bodies of the successes that were carried, and the one that was delivered.
        var carried: [Data] = []
        var value: Data?
        /// The attempts that were scheduled, and those that ended.
        var scheduled: [Int] = []
        var ended: [Int] = []
        /// What the HTTPInterceptor of each attempt does.
        var intercepting: [Int: Intercepting] = [:]
        /// The body that it put in place of a stream.
        var replacement: Data?
        var redirects = 0
        /// The bytes for the stream's reader, the bytes that it has read, and its end.
        var stream: Stream?
        var streamed = Data()
        var isWhole = false
        /// Whether a cancel came while its end was reported, so that either may count.
        var isCancelledAtItsEnd = false
        var read = Data()
        var verdict: String?
    }

    let number: Int
    let streams: Bool
    private let state = Lock(State())

    init(number: Int, streams: Bool) { (self.number, self.streams) = (number, streams) }

    var now: State { state.withLock { $0 } }

    func change(_ body: (inout State) -> Void) { state.withLock(body) }

    var loop: FetchLoop? { state.withLock { $0.loop } }

    func allow(_ ending: String) { state.withLock { _ = $0.allowed.insert(ending) } }

    func begun(_ handle: any Cancelable) {
        let loop = handle as? FetchLoop ?? (handle as? FetchCancelable)?.fetch
        state.withLock { ($0.handle, $0.loop) = (handle, loop) }
    }

    /// Cancels the fetch, if `fetch` has returned.
    func cancel() {
        let handle = state.withLock { state in
            if state.handle != nil, state.endings.isEmpty { state.isCancelled = true }
            if state.handle != nil { state.allowed.insert("cancelled") }
            state.cancelCount += 1
            return state.handle
        }
        handle?.cancel()
    }

    /// Releases the references to the fetch and its stream.
    func release() {
        let last = state.withLock { state in
            defer { (state.handle, state.stream) = (nil, nil) }
            return (state.handle, state.stream)
        }
        withExtendedLifetime(last) {}
    }

    // MARK: State

    var isEnded: Bool { loop.map { $0.state.withLock { $0.isEnded } } ?? true }
    var isStreaming: Bool { loop.map { $0.state.withLock { $0.hasStreamHead(in: nil) } } ?? false }
    /// The attempt under way; the first one's request is made before `fetch` returns.
    var attemptNumber: Int { loop.map { $0.state.withLock { $0.attemptNumber } } ?? 1 }
    /// Whether the request of this attempt is being made.
    func isMaking(attempt: Int) -> Bool {
        loop.map { loop in
            loop.state.withLock { state in
                if case .making = state.stage { state.attemptNumber == attempt } else { false }
            }
        } ?? false
    }
    /// Whether it waits for its next attempt.
    var isDelayed: Bool {
        loop.map { $0.state.withLock { state in if case .delayed = state.stage { true } else { false } } } ?? false
    }

    /// Whether no task of an HTTPInterceptor is at work.
    var isInterceptionAtRest: Bool {
        let (stages, loop) = state.withLock { ($0.intercepting, $0.loop) }
        if stages.values.contains(.running) { return false }
        let (interception, attempt) =
            loop?.state.withLock { ($0.intercepting?.interception, $0.attemptNumber) } ?? (nil, 0)
        guard let interception else { return true }
        switch stages[attempt] {
        case nil, .running: return false
        case .waiting:
            return interception.answer.stage.withLock { stage in
                switch stage {
                case .empty: true
                case .waiting: true
                default: false
                }
            }
        case .ended: return true
        }
    }

    // MARK: Ends

    func complete(with result: Result<Network.Value<Data, HTTP.Response>, Failure>) {
        end(Self.ending(of: result)) { $0.value = (try? result.get())?.value }
    }

    func complete(withStream result: Result<Network.Value<Stream, HTTP.Response>, Failure>) {
        end(Self.ending(of: result)) { $0.stream = (try? result.get())?.value }
    }

    private func end(_ ending: String, _ keep: (inout State) -> Void) {
        state.withLock { state in
            state.endings.append(ending)
            keep(&state)
        }
    }

    private static func ending(of result: Result<some Any, Failure>) -> String {
        guard case .failure(let error) = result else { return "success" }
        if case .retry = error { return "retry" }
        return error.caseName
    }

    /// Reads the available bytes of the stream; called when there are some, so that it returns at once.
    func readStream() async {
        guard var iterator = now.stream?.makeAsyncIterator() else { return }
        do throws(Failure) {
            let chunk = try await iterator.next()
            state.withLock { state in
                if let chunk { state.read += chunk } else { state.verdict = "finished" }
            }
        } catch {
            let name = error.caseName
            state.withLock { $0.verdict = name }
        }
    }
}
