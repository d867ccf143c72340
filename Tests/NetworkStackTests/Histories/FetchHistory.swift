import Foundation
import NetworkStackTesting

@testable import NetworkStack

/// A fetch driven by random events, and checked after them.
///
/// It handles the results of ``FetchState`` like ``FetchLoop``. The objects that a fetch awaits (its queue, a timer, the maker of a
/// request, a transport) is in lists, and another of these may act wherever a fetch does not hold its lock.
final class FetchHistory: History {
    static let subject = "FetchState"

    enum Work {
        case judge(Ending, Attempt)
        case transformed(Bool, Attempt)
        case open(HTTP.Response)
        case make
        case complete
        /// Of the interceptors with this index.
        case ask(Int)
        case intercepted(Ending, Int)
    }

    static let request = HTTP.Request(url: URL(string: "http://host.test/start") ?? URL(filePath: "/"))
    static let success = HTTP.Response(status: 200, url: request.url)
    static let longest = 60

    let seed: UInt64
    var random: SeededRandom
    let delegate: FetchHistoryDelegate
    var state: FetchState
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private(set) var steps = 0
    private var depth = 0

    var (queue, makers, transfers): ([Work], [Attempt], [FetchHistoryTransfer]) = ([], [], [])
    var (sources, pending): ([FetchHistorySource], [FetchHistoryPending]) = ([], [])
    var (tickets, lastTicket): (Set<Deadlines.Ticket>, Deadlines.Ticket) = ([], 0)
    var lastIdentifier = 0
    var interceptors: [Interceptors] = []
    private let connection = HTTP.Connection()
    var wasCancelled = false
    /// The bytes that the reader of the stream got.
    var stream = FetchHistoryStream()

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        delegate = FetchHistoryDelegate(
            streams: random.number(below: 2) == 0,
            isIntercepted: random.number(below: 3) > 0,
            resumesTask: random.number(below: 2) == 0,
            interceptsAttempts: random.number(below: 2) == 0
        )
        state = FetchState(options: delegate.options, delegate: delegate, trace: delegate.trace, now: now)
    }

    func chance(_ one: Int) -> Bool { random.chance(one) }

    func fault(_ sentence: String) -> HistoryFault {
        HistoryFault(seed: seed, subject: Self.subject, sentence)
    }

    /// Runs the fetch to its end.
    ///
    /// - Returns: The events that it took.
    /// - Throws: ``HistoryFault`` for the first sentence of ``check()`` that does not hold.
    func run() throws -> Int {
        run(.make)
        delegate.hasReturned = true
        deliver(state.delivery.returned())
        while steps < Self.longest, !state.isEnded { interleave() }
        let isStuck =
            queue.isEmpty && makers.isEmpty && transfers.allSatisfy(\.isOver)
            && !interceptors.contains(where: \.isRunning)
        if !state.isEnded, isStuck { throw fault("A fetch that awaits nothing has ended.") }
        if !state.isEnded { run(.settle(chance(2) ? .cancelled : .failed(.shutDown))) }
        while !state.isEnded || !queue.isEmpty {
            guard steps < 100 * Self.longest else { throw fault("A fetch ends.") }
            interleave()
        }
        let isLeft = transfers.contains { !$0.isOver && !$0.isCancelled }
        if isLeft { throw fault("A transfer ends or is cancelled.") }
        for _ in 0..<4 { interleave() }
        try check()
        return steps
    }

    // MARK: Events

    /// One event from another thread, sometimes, as between two uses of the lock.
    func maybe() {
        depth += 1
        if depth < 3, chance(4) { interleave() }
        depth -= 1
    }

    private func interleave() {
        steps += 1
        now = now + .milliseconds(random.number(below: 50))
        let underWay = transfers.filter { !$0.isOver }
        switch random.number(below: 14) {
        case 0 where chance(4):
            run(.settle(.cancelled))
            // A completion in place runs as soon as the fetch has ended.
            if delegate.endings.isEmpty, !(state.isEnded && delegate.resumesTask) { wasCancelled = true }
        case 1 where chance(3): settleLate()
        case 2 where !makers.isEmpty: handOver()
        case 3: state.sourceIsReady()?.resumeSending()
        case 4: state.readerResumed(now: now)?.resumeReceiving()
        case 5, 6, 7:
            if !queue.isEmpty { work(queue.remove(at: random.number(below: queue.count))) }
        case 8, 9: interceptorsAct()
        default:
            guard !underWay.isEmpty else { return }
            event(of: underWay[random.number(below: underWay.count)])
        }
    }

    /// A timeout fired, in the current attempt or in an earlier one.
    private func settleLate() {
        let attempt = 1 + random.number(below: state.attemptNumber)
        let timeout: HTTP.Timeout = chance(2) ? .total : .attempt
        let mustEnd = timeout == .total && attempt == state.attemptNumber && state.interceptorsRun
        run(.settle(.failed(.timedOut(timeout, during: .waiting)), of: .attempt(attempt)))
        guard mustEnd, !state.isEnded else { return }
        // The scheduling ends first.
        if case .scheduling = state.stage { return }
        delegate.faults.append("HTTPInterceptors cannot outlast the total timeout.")
    }

    /// A maker delivers its request, and may do so again later.
    private func handOver() {
        let attempt = makers[random.number(below: makers.count)]
        if !chance(4) { makers.removeAll { $0.number == attempt.number } }
        let isWanted = state.handOver(attempt, now: now).isWanted
        if isWanted { delegate.handedOver.append(attempt.number) }
        if isWanted { run(made(attempt)) }
    }

    func made(_ attempt: Attempt) -> FetchState.Step {
        if chance(10) { return .settle(.noRequest(CancellationError()), of: .attempt(attempt.number)) }
        return delegate.interceptsAttempts
            ? intercept(attempt) : carry(Self.request, of: attempt.number, isFirst: true)
    }

    private func event(of transfer: FetchHistoryTransfer) {
        let hop = transfer.hop
        if transfer.head == nil {
            switch random.number(below: 8) {
            case 0:
                let phases = [HTTP.Phase.queued, .resolving, .connecting, .securing, .sending, .waiting]
                enter(random.pick(phases) ?? .queued, transfer)
            case 1:
                transfer.hasBegun = true
                state.entered(.sending, on: connection, isReused: chance(2), hop: hop, now: now)
            case 2: if state.note(hop: hop, { $0.sent(now: now) }) != nil { state.trace?.sent(Int64(steps)) }
            case 3:
                begin(transfer)
                guard state.note(hop: hop, { $0.progressed(now: now) }) != nil else { return }
                state.trace?.received(informational: HTTP.Response(status: 103, url: Self.request.url))
            case 4: fail(transfer)
            default: if !delegate.streams, chance(4) { finishAtOnce(transfer) } else { head(of: transfer) }
            }
            return
        }
        switch random.number(below: 6) {
        case 0: finish(transfer)
        case 1 where chance(3): fail(transfer)
        case 2: act { $0.withheld(10, hop: hop, now: self.now) }
        default: body(of: transfer)
        }
    }

    private func enter(_ phase: HTTP.Phase, _ transfer: FetchHistoryTransfer) {
        transfer.hasBegun = phase == .sending || phase == .waiting
        guard state.note(hop: transfer.hop, { $0.entered(phase, now: now, isSameHop: true) }) != nil else { return }
        state.trace?.entered(phase)
    }

    /// No server answers before the request is sent.
    private func begin(_ transfer: FetchHistoryTransfer) {
        if !transfer.hasBegun { enter(.waiting, transfer) }
    }

    private func head(of transfer: FetchHistoryTransfer) {
        begin(transfer)
        let head = randomHead()
        transfer.head = head
        let fails = head.status.statusClass != .success
        act(transfer) { $0.received(head: head, fails: fails, hop: transfer.hop, now: self.now) }
    }

    private func randomHead() -> HTTP.Response {
        let url = Self.request.url
        return switch random.number(below: 8) {
        case 0: HTTP.Response(status: 302, headers: [.location: "/next"], url: url)
        case 1: HTTP.Response(status: 307, headers: [.location: "/next", "Content-Length": "70000"], url: url)
        case 2: HTTP.Response(status: 302, headers: chance(4) ? [.location: "ftp://a"] : [:], url: url)
        case 3: HTTP.Response(status: chance(3) ? 101 : 503, url: url)
        default: HTTP.Response(status: 200, url: url)
        }
    }

    private func finishAtOnce(_ transfer: FetchHistoryTransfer) {
        begin(transfer)
        let (head, body) = (randomHead(), Data("whole".utf8))
        (transfer.head, transfer.sent, transfer.isOver) = (head, body, true)
        act(transfer) {
            $0.finished(
                head,
                fails: head.status.statusClass != .success,
                body: body,
                trailers: nil,
                metrics: .init(),
                hop: transfer.hop,
                now: self.now
            )
        }
    }

    private func body(of transfer: FetchHistoryTransfer) {
        let chunk = Data(repeating: UInt8(steps % 256), count: chance(8) ? 40_000 : 1 + random.number(below: 3))
        transfer.sent += chunk
        guard delegate.streams, state.isStreaming(transfer.hop) else {
            return act(transfer) { $0.received(body: chunk, hop: transfer.hop, now: self.now) }
        }
        stream.take(chunk)
        maybe()
        state.streamed(chunk.count, hop: transfer.hop, hasRoom: chance(2), now: now)
    }

    private func finish(_ transfer: FetchHistoryTransfer) {
        transfer.isOver = true
        guard delegate.streams, state.isStreaming(transfer.hop) else {
            return act(transfer) {
                $0.finished(trailers: nil, metrics: .init(), hop: transfer.hop, now: self.now)
            }
        }
        maybe()
        state.trace?.finished(.init())
        stream.finish(with: transfer.sent)
        maybe()
        let (ends, last) = state.streamFinished()
        last?.source?.close()
        if ends { run(.done(.resultStored)) }
    }

    private func fail(_ transfer: FetchHistoryTransfer) {
        transfer.isOver = true
        let failure = chance(4) ? HopFailure.bodyNotReplayable() : .badResponse(nil)
        act(transfer) { $0.failed(failure, metrics: .init(), hop: transfer.hop, now: self.now) }
    }

    private func act(_ transfer: FetchHistoryTransfer? = nil, on event: (inout FetchState) -> FetchState.Step) {
        let isCurrent = transfer.map { state.isCurrent($0.hop) } ?? true
        let step = event(&state)
        switch step {
        case .wait: return
        case .settle(.whole(let head, let body, _, _), _):
            if let transfer, head.status != 101, body != transfer.sent {
                delegate.faults.append("A body is delivered in order.")
            }
        default: break
        }
        if !isCurrent { delegate.faults.append("An event of a hop that is over is ignored.") }
        maybe()
        run(step)
    }

    private func work(_ work: Work) {
        switch work {
        case .judge(let ending, let attempt): run(judge(ending, attempt))
        case .transformed(let isSuccess, let attempt):
            if !isSuccess, state.delegate != nil { delegate.failure = .interceptor(CancellationError()) }
            run(isSuccess ? reportSuccess(attempt) : vote(attempt))
        case .open(let head): run(report(.opened(head)))
        case .ask(let index): ask(index)
        case .intercepted(let ending, let index): run(intercepted(ending, index))
        case .make: run(.make)
        case .complete: state.delivery.take()?.make()
        }
    }
}
