import FoundationEssentials
import NetworkStackTesting

@testable import NetworkStack

/// The environment of the engine in an ``EngineHistory``. It acts in steps.
final class EngineHistoryWorld: Sendable {
    /// An attempt that waits for a token.
    private struct Wait {
        let fetch: EngineHistoryFetch
        let attempt: Int
        /// Whether the refresh that it waits for has been answered: a task is about to resume it.
        var isAnswered = false

        var isOver: Bool { !fetch.isMaking(attempt: attempt) }
    }

    private struct State {
        var random: SeededRandom
        var fetches: [EngineHistoryFetch] = []
        var transfers: [EngineHistoryTransfer] = []
        var calls: [EngineHistoryCall] = []
        /// The attempts that wait for a token, how many are being resumed, and the current refresh.
        var waits: [Int: Wait] = [:]
        var waitCount = 0
        var resumedCount = 0
        var refresh: OneShot<Bool>?
        var refreshCount = 0
        /// Whether a cancel from within a callback is under way.
        var isInside = false
        var fault: String?
    }

    private let state: Lock<State>

    init(_ random: SeededRandom) { state = Lock(State(random: random)) }

    func number(below bound: Int) -> Int { state.withLock { $0.random.number(below: bound) } }
    func chance(_ one: Int) -> Bool { number(below: one) == 0 }

    var fetches: [EngineHistoryFetch] { state.withLock { $0.fetches } }
    var transfers: [EngineHistoryTransfer] { state.withLock { $0.transfers } }
    var fault: String? { state.withLock { $0.fault } }

    func add(_ fetch: EngineHistoryFetch) { state.withLock { $0.fetches.append(fetch) } }
    func add(_ transfer: EngineHistoryTransfer) { state.withLock { $0.transfers.append(transfer) } }
    func removeTransfers() { state.withLock { $0.transfers = [] } }

    /// The fetch that a request is of.
    func fetch(of request: HTTP.Request) -> EngineHistoryFetch? {
        request.headers["Fetch"].flatMap { Int($0) }.flatMap { number in
            state.withLock { state in state.fetches.first { $0.number == number } }
        }
    }

    /// A callback of the engine cancels a fetch, sometimes.
    func maybeCancel() {
        // Tasks of HTTPInterceptors run beside the queue, where a fetch may be completing.
        let isInTask = withUnsafeCurrentTask { $0 != nil }
        let fetch = state.withLock { state -> EngineHistoryFetch? in
            guard !isInTask || state.resumedCount > 0, !state.isInside, state.random.chance(40) else { return nil }
            state.isInside = true
            return state.random.pick(state.fetches)
        }
        guard let fetch else { return }
        fetch.cancel()
        state.withLock { $0.isInside = false }
    }

    // MARK: Delayed calls

    /// Calls a handler at once or in a later step.
    func call(_ handler: @escaping @Sendable () -> any Cancelable) -> any Cancelable {
        if chance(2) { return handler() }
        let call = EngineHistoryCall(handler)
        state.withLock { $0.calls.append(call) }
        return call
    }

    /// Makes a call. It is made again later, sometimes.
    func makeCall() {
        let call = state.withLock { state -> EngineHistoryCall? in
            guard let place = state.calls.indices.randomElement(using: &state.random) else { return nil }
            return state.random.chance(6) ? state.calls[place] : state.calls.remove(at: place)
        }
        call?.make()
    }

    var hasCalls: Bool { state.withLock { !$0.calls.isEmpty } }

    func removeCalls() { state.withLock { $0.calls = [] } }

    // MARK: Tokens

    func awaitToken(_ fetch: EngineHistoryFetch) -> Int {
        let attempt = fetch.attemptNumber
        return state.withLock { state in
            state.waitCount += 1
            state.waits[state.waitCount] = Wait(fetch: fetch, attempt: attempt)
            return state.waitCount
        }
    }

    /// Resumes an attempt. Returns when the attempt has run until its next wait.
    func endWait(_ wait: Int, _ resume: () -> any Cancelable) -> any Cancelable {
        state.withLock { $0.resumedCount += 1 }
        defer {
            state.withLock { state in
                state.resumedCount -= 1
                state.waits[wait] = nil
            }
        }
        return resume()
    }

    /// Whether no task is about to resume an attempt: those that wait for a token wait until a step answers the refresh.
    var isSettled: Bool {
        let (waits, isAsked, resumedCount) = state.withLock {
            (Array($0.waits.values), $0.refresh != nil, $0.resumedCount)
        }
        return resumedCount == 0 && waits.allSatisfy { $0.isOver || isAsked && !$0.isAnswered }
    }

    /// A new token, when a step provides it.
    func refresh() async throws -> AccessToken {
        let answer = OneShot<Bool>()
        let number = state.withLock { state in
            if state.refresh != nil { state.fault = "One refresh is under way at a time." }
            state.refresh = answer
            state.refreshCount += 1
            return state.refreshCount
        }
        guard await answer.take() else { throw HTTPTransferError(.other, "There is no token.") }
        return AccessToken("token \(number)")
    }

    func answerRefresh() {
        let (answer, waiting, number) = state.withLock { state in
            let answer = exchange(&state.refresh, with: nil)
            if answer != nil { for wait in state.waits.keys { state.waits[wait]?.isAnswered = true } }
            return (answer, Array(state.waits.values), state.refreshCount)
        }
        guard let answer else { return }
        let isGiven = number % 4 != 0
        if !isGiven { for wait in waiting { wait.fetch.allow("noRequest") } }
        answer.fill(isGiven)
    }
}

/// A handler that is called later, even after a cancel, and perhaps more than once.
final class EngineHistoryCall: Cancelable {
    private let handler: @Sendable () -> any Cancelable
    /// The cancelable of the first call; a cancel is forwarded to it, also an earlier one.
    private let following = CancelableBag()
    private let isMade = Lock(false)

    init(_ handler: @escaping @Sendable () -> any Cancelable) { self.handler = handler }

    func make() {
        let next = handler()
        // Nothing follows a second call.
        if !isMade.withLock({ exchange(&$0, with: true) }) { following += next }
    }

    func cancel() { following.cancel() }
}

/// Runs hops in steps.
struct EngineHistoryTransport: HTTPTransport {
    let world: EngineHistoryWorld
    let capabilities = HTTP.Capabilities()

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<HTTPTransferError>) -> any HTTPTransfer {
        let transfer = EngineHistoryTransfer(hop, sink, world.fetch(of: hop.request))
        world.add(transfer)
        world.maybeCancel()
        return transfer
    }
}
