import Foundation
import NetworkStackTesting

@testable import NetworkStack

/// The HTTPInterceptors around an attempt. They run in a task, so their events come between others, as in ``FetchLoop/intercept(_:_:for:)``.
extension FetchHistory {
    /// The HTTPInterceptors of one attempt.
    struct Interceptors {
        /// Their failure, which has their number.
        struct Result: Error { let number: Int }

        let interception: Interception
        let attempt: Attempt
        /// Whether `next` was called; whether the task that waits in it was cancelled.
        var hasAsked = false, isCancelled = false
        /// Whether `next` has returned or thrown.
        var isAnswered = false
        /// Whether they have dropped the stream that they got, and provide its body.
        var replaces = false
        /// Whether they have returned or thrown.
        var hasReturned = false
        /// Whether they no longer await their request, or the engine has their result.
        var hasGivenUp = false, isAccepted = false

        /// Whether they act next, because they wait for nothing else.
        var isRunning: Bool { !hasReturned && (!hasAsked || isAnswered || isCancelled) }
    }

    func intercept(_ attempt: Attempt) -> FetchState.Step {
        let new = Interceptors(interception: Interception(delegate), attempt: attempt)
        maybe()
        guard state.begin(new.interception, of: attempt) else { return .wait }
        interceptors.append(new)
        return .wait
    }

    /// One event of interceptors that have not returned.
    func interceptorsAct() {
        let all = interceptors.indices.filter { !interceptors[$0].hasReturned }
        guard let index = random.pick(all) else { return }
        let acting = interceptors[index]
        if !acting.hasAsked, !chance(4) {
            interceptors[index].hasAsked = true
            queue.append(.ask(index))
        } else if acting.hasAsked, !acting.isAnswered, !acting.isCancelled {
            guard chance(3) else { return }
            interceptors[index].isCancelled = true
            maybe()
            abandon(index)
        } else if acting.isAnswered, !acting.replaces, delegate.streams, chance(2) {
            dropStream(of: index)
        } else {
            interceptors[index].hasReturned = true
            queue.append(.intercepted(ending(of: index), index))
        }
    }

    private func ending(of index: Int) -> Ending {
        let thrown = Interceptors.Result(number: index)
        switch random.number(below: 3) {
        case 0: return interceptors[index].hasAsked ? .thrown(thrown) : .noRequest(thrown)
        default:
            let head = HTTP.Response(status: 200, headers: ["Interceptors": "\(index)"], url: Self.request.url)
            if delegate.streams { return .opened(head, .init(Data())) }
            return .whole(head, Data(), method: .GET, fails: false)
        }
    }

    /// Their request is sent, on the queue.
    func ask(_ index: Int) {
        let asking = interceptors[index]
        guard state.ask(asking.interception, now: now) else {
            interceptors[index].isAnswered = true
            return
        }
        maybe()
        if interceptors[index].isCancelled { return abandon(index) }
        run(carry(Self.request, of: asking.attempt.number, isFirst: true))
    }

    private func abandon(_ index: Int) {
        if let settled = state.abandon(interceptors[index].interception, now: now) { release(settled.held) }
        interceptors[index].hasGivenUp = true
    }

    /// Waiting interceptors get a response.
    func answer(_ interception: Interception) {
        guard let index = interceptors.firstIndex(where: { $0.interception === interception }) else { return }
        if interceptors[index].isAnswered { delegate.faults.append("A next returns once.") }
        interceptors[index].isAnswered = true
        // The cancelled task does not take a stream, which is dropped.
        if interceptors[index].isCancelled, delegate.streams { dropStream(of: index) }
    }

    /// Their attempt is over: `next` throws, if they wait in it.
    func cancel(_ interception: Interception) {
        guard let index = interceptors.firstIndex(where: { $0.interception === interception }) else { return }
        interceptors[index].isAnswered = true
    }

    private func dropStream(of index: Int) {
        interceptors[index].replaces = true
        guard stream.verdict == nil else { return }
        let (cancels, held) = state.leaveStream()
        if cancels { run(.settle(.cancelled)) }
        if let held { release(held) }
    }

    func intercepted(_ ending: Ending, _ index: Int) -> FetchState.Step {
        let attempt = interceptors[index].attempt.number
        switch state.end(interceptors[index].interception, with: ending) {
        case nil: return .wait
        case .opening:
            guard case .opened(let head, _) = ending else { return .done(ending, of: .attempt(attempt)) }
            if interceptors[index].replaces { replaceStream(head) }
            return report(ending)
        case .attempt:
            interceptors[index].isAccepted = true
            maybe()
            return .settle(ending, of: .attempt(attempt))
        }
    }

    /// The reader gets a stream that is not the server's.
    func replaceStream(_ head: HTTP.Response) {
        state.trace?.replaced(head)
        (stream.verdict, stream.isReplaced) = (.finished(stream.received), true)
    }

    /// An attempt ends with the result of its interceptors, or with a timeout.
    func checkJudged(_ ending: Ending, _ attempt: Attempt) {
        guard let index = interceptors.firstIndex(where: { $0.attempt.number == attempt.number }) else { return }
        let result: Int? =
            switch ending {
            case .thrown(let error, _), .rejected(let error, _), .noRequest(let error):
                (error as? Interceptors.Result)?.number
            case .whole(let head, _, _, _), .opened(let head, _): head.headers["Interceptors"].flatMap { Int($0) }
            case .failed(.timedOut, _): index
            default: nil
            }
        if result != index {
            delegate.faults.append("An attempt ends with the result of its HTTPInterceptors, not with \(ending).")
        }
    }

    /// The fetch has ended in the attempt with this number.
    func checkEnd(_ ending: Ending, of attempt: Int) {
        guard case .failed(.bodyNotReplayable, _) = ending, !delegate.streams else { return }
        let own = interceptors.first { $0.attempt.number == attempt }
        if let own, own.hasGivenUp || own.isAccepted {
            delegate.faults.append("What HTTPInterceptors return counts in place of a request that they gave up.")
        }
    }

    /// A transfer is started for an attempt.
    func checkStarted(_ attempt: Int) {
        let asking = interceptors.first { $0.attempt.number == attempt }
        if let asking, asking.isCancelled || asking.hasReturned {
            delegate.faults.append("A request that its HTTPInterceptors no longer wait for is not sent.")
        }
    }
}
