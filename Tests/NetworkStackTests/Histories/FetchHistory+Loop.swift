import Foundation
import NetworkStackTesting

@testable import NetworkStack

/// The steps of ``FetchLoop/run(_:)``, with events of other threads between two uses of the lock.
extension FetchHistory {
    func run(_ first: FetchState.Step) {
        var step = first
        while true {
            switch step {
            case .make: step = make()
            case .follow(let request, let abandoned, let source, let attempt):
                abandoned?.cancel()
                source?.close()
                maybe()
                step = carry(request, of: attempt, isFirst: false)
            case .open(let head): step = open(head)
            case .settle(let ending, let scope): step = settle(ending, of: scope)
            case .done(let ending, let scope): return end(ending, of: scope)
            case .wait: return
            }
        }
    }

    private func make() -> FetchState.Step {
        lastIdentifier += 1
        guard let begun = state.beginAttempt(lastIdentifier, now: now) else { return .wait }
        let attempt = begun.attempt
        delegate.begun.append(attempt.number)
        lastTicket += 1
        let ticket = lastTicket
        tickets.insert(ticket)
        if let last = begun.lastTicket { remove(last) }
        maybe()
        if let late = state.hold(ticket: ticket, of: attempt) { remove(late) }
        maybe()
        if chance(3) {
            guard state.handOver(attempt, now: now).isWanted else { return .wait }
            delegate.handedOver.append(attempt.number)
            return made(attempt)
        }
        makers.append(attempt)
        maybe()
        let making = newPending()
        state.hold(making: making, of: attempt)?.cancel()
        return .wait
    }

    func carry(_ request: HTTP.Request, of attempt: Int, isFirst: Bool) -> FetchState.Step {
        let source = chance(2) ? FetchHistorySource() : nil
        if let source { sources.append(source) }
        maybe()
        guard let begun = state.begin(request, fragment: nil, source: source, of: attempt) else {
            source?.close()
            return .wait
        }
        if isFirst, delegate.isIntercepted {
            maybe()
            guard let scheduled = state.beginScheduling(hop: begun.number) else { return .wait }
            if scheduled.number != attempt { delegate.faults.append("An attempt is scheduled under its number.") }
            // User code runs here.
            for _ in 0..<random.number(below: 16) { maybe() }
            let next = state.endScheduling()
            guard case .wait = next else { return next }
        }
        if isFirst { checkStarted(attempt) }
        let transfer = FetchHistoryTransfer(hop: begun.number)
        transfers.append(transfer)
        maybe()
        let (cancels, resumesSending, resumesReceiving) = state.hold(transfer, hop: begun.number)
        if cancels { transfer.cancel() }
        if resumesSending { transfer.resumeSending() }
        if resumesReceiving { transfer.resumeReceiving() }
        return .wait
    }

    private func settle(_ ending: Ending, of scope: FetchState.Scope) -> FetchState.Step {
        if delegate.streams, state.hasStreamHead(in: scope.attempt) {
            if stream.fail(), let delegate = state.delegate {
                delegate.trace?.streamFailed(delegate.streamError(of: ending))
            }
            guard let held = state.streamFailed(ending) else { return .done(ending, of: scope) }
            release(held)
            return .wait
        }
        maybe()
        guard delegate.isIntercepted, !ending.isFinal else { return .done(ending, of: scope) }
        guard let settled = state.settle(ending, of: scope, now: now) else { return .wait }
        release(settled.held)
        if let waiting = settled.waiting {
            answer(waiting)
            return .wait
        }
        queue.append(.judge(ending, settled.attempt))
        return .wait
    }

    func judge(_ ending: Ending, _ attempt: Attempt) -> FetchState.Step {
        maybe()
        guard let trace = state.delegate.map(\.trace) else { return .wait }
        checkJudged(ending, attempt)
        guard delegate.storeResult(of: ending) else { return vote(attempt) }
        if case .opened(let head, _) = ending {
            replaceStream(head)
            trace?.streamEnded()
            return reportSuccess(attempt)
        }
        guard chance(2) else { return reportSuccess(attempt) }
        queue.append(.transformed(!chance(3), attempt))
        maybe()
        let settling = newPending()
        state.hold(pending: settling, of: attempt.number)?.cancel()
        return .wait
    }

    func reportSuccess(_ attempt: Attempt) -> FetchState.Step {
        guard state.claimReport().isFirst else { return .wait }
        delegate.report(attempt)
        maybe()
        return .done(.resultStored)
    }

    func vote(_ attempt: Attempt) -> FetchState.Step {
        guard state.claimReport().isFirst else { return .wait }
        delegate.report(attempt)
        maybe()
        let delay: Retry.Delay?
        switch random.number(below: 4) {
        case 0: return .done(.resultStored)
        case 1: delay = 1
        default: delay = nil
        }
        let failed = state.failed(CancellationError(), delay: delay, now: now)
        return failed.map { again($0.attemptCount, after: delay) } ?? .wait
    }

    private func again(_ attempt: Int, after delay: Retry.Delay?) -> FetchState.Step {
        maybe()
        guard delay != nil else { return .make }
        queue.append(.make)
        maybe()
        let waiting = newPending()
        state.hold(pending: waiting, of: attempt)?.cancel()
        return .wait
    }

    private func open(_ head: HTTP.Response) -> FetchState.Step {
        guard delegate.isIntercepted else { return open(.opened(head)) }
        if let waiting = state.takeWaiting() {
            answer(waiting)
        } else {
            queue.append(.open(head))
        }
        return .wait
    }

    func report(_ opened: Ending) -> FetchState.Step {
        guard state.claimReport().isFirst, let attempt = state.attempt else { return .wait }
        _ = delegate.storeResult(of: opened)
        delegate.report(attempt)
        maybe()
        return open(.resultStored)
    }

    private func open(_ ending: Ending) -> FetchState.Step {
        let opened = state.open(ending)
        stream.isDelivered = stream.isDelivered || state.hasStreamHead(in: nil)
        deliver(opened.moment)
        maybe()
        return opened.isOver ? .done(.resultStored) : .wait
    }

    private func end(_ ending: Ending, of scope: FetchState.Scope) {
        let before = state.attemptNumber
        guard let ended = state.end(ending, of: scope, isIntercepted: delegate.isIntercepted) else { return }
        checkEnd(ending, of: before)
        if let streaming = ended.streaming {
            if stream.fail(), !ending.isStored { delegate.trace?.streamFailed(streaming.streamError(of: ending)) }
            if ended.isDelivered { delegate.trace?.streamEnded() }
        }
        release(ended.held)
        maybe()
        deliver(ended.moment)
    }

    func deliver(_ moment: borrowing Delivery.Moment) {
        switch moment {
        case .later: break
        case .inPlace(let call):
            if !delegate.resumesTask { delegate.faults.append("User code runs on the queue.") }
            call.make()
        case .onQueue: queue.append(.complete)
        }
    }

    func release(_ held: FetchState.HeldResources) {
        if let interception = held.interception { cancel(interception) }
        if let ticket = held.ticket { remove(ticket) }
        held.stage.pending?.cancel()
        held.stage.hop?.transfer?.cancel()
        held.stage.hop?.source?.close()
    }

    private func remove(_ ticket: Deadlines.Ticket) {
        if tickets.remove(ticket) == nil { delegate.faults.append("A ticket is returned once.") }
    }

    private func newPending() -> FetchHistoryPending {
        let new = FetchHistoryPending()
        pending.append(new)
        return new
    }
}
