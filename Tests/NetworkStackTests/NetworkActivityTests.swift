import Dispatch
import Foundation
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("Network activity")
struct NetworkActivityTests {
    typealias State = NetworkActivity.State

    private func watched(_ activity: NetworkActivity) -> Lock<[State]> {
        let seen = Lock<[State]>([])
        activity.observe { state in seen.withLock { $0.append(state) } }
        return seen
    }

    @Test("It shows with the first start and hides with the last end, never twice")
    func states() {
        let activity = NetworkActivity()
        let seen = watched(activity)
        #expect(activity.state == .hide)
        activity.increment()
        activity.increment()
        #expect(activity.state == .show)
        activity.decrement()
        #expect(seen.withLock { $0 } == [.show])
        activity.decrement()
        activity.increment()
        #expect(seen.withLock { $0 } == [.show, .hide, .show])
    }

    @Test("Ends without a start change nothing, and do not offset later ones")
    func neverNegative() {
        let activity = NetworkActivity()
        let seen = watched(activity)
        for _ in 1...3 { activity.decrement() }
        #expect(seen.withLock { $0 } == [])
        activity.increment()
        #expect(seen.withLock { $0 } == [.show])
        activity.decrement()
        activity.decrement()
        #expect(seen.withLock { $0 } == [.show, .hide])
    }

    @Test("Any number of observers may start and end at any time")
    func observers() {
        let activity = NetworkActivity()
        let (first, second) = (Lock<[State]>([]), Lock<[State]>([]))
        let observation = activity.observe { state in first.withLock { $0.append(state) } }
        activity.increment()
        activity.observe { state in second.withLock { $0.append(state) } }
        observation.cancel()
        observation.cancel()
        activity.decrement()
        #expect(first.withLock { $0 } == [.show])
        #expect(second.withLock { $0 } == [.show, .hide])
    }

    @Test("An observer may change the activity, and may end its observation")
    func reentrant() {
        let activity = NetworkActivity()
        let seen = Lock<[State]>([])
        let observation = Lock<(any Cancelable)?>(nil)
        let cancelable = activity.observe { state in
            let count = seen.withLock { seen in
                seen.append(state)
                return seen.count
            }
            guard state == .hide else { return activity.decrement() }
            observation.withLock { $0 }?.cancel()
            // No longer reported, although it happens within a report.
            if count == 2 { activity.increment() }
        }
        observation.withLock { $0 = cancelable }
        activity.increment()
        activity.increment()
        #expect(seen.withLock { $0 } == [.show, .hide])
    }

    @Test("With many threads, each observer sees alternating states, and the last one is right")
    func threads() async {
        let activity = NetworkActivity()
        let seen = watched(activity)
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...8 {
                group.addTask {
                    for _ in 1...500 {
                        activity.increment()
                        activity.decrement()
                    }
                }
            }
        }
        let states = seen.withLock { $0 }
        #expect(activity.state == .hide)
        #expect(states.count.isMultiple(of: 2))
        for (index, state) in states.enumerated() where state != (index.isMultiple(of: 2) ? .show : .hide) {
            Issue.record("The observer saw \(state) at \(index)")
            break
        }
    }

    @Test("An observer may be called on a queue of the caller")
    func queue() async throws {
        let (activity, queue, isOver) = (NetworkActivity(), DispatchQueue(label: "observer"), Gate())
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 1)
        let seen = Lock<[Int?]>([])
        activity.observe(on: queue) { state in
            seen.withLock { $0.append(DispatchQueue.getSpecific(key: key)) }
            if state == .hide { isOver.open() }
        }
        activity.increment()
        activity.decrement()
        try await isOver.opened()
        #expect(seen.withLock { $0 } == [1, 1])
    }

    @Test("As an interceptor, it counts tasks, and no request that was not made")
    func interceptor() throws {
        let activity = NetworkActivity()
        let request = try HTTP.Request(url: "http://a.test/")
        let response = HTTP.Response(status: 200, url: request.url)
        func fail(_ request: HTTP.Request?) {
            _ = activity.interceptFailedTask(
                withIdentifier: 1,
                request: request,
                data: nil,
                response: nil,
                error: CancellationError(),
                retryState: .init()
            )
        }
        activity.increment()
        fail(nil)
        #expect(activity.state == .show)
        activity.interceptScheduledTask(withIdentifier: 1, request: request, retryState: .init())
        fail(request)
        activity.interceptScheduledTask(withIdentifier: 2, request: request, retryState: .init())
        activity.interceptSuccessfulTask(
            withIdentifier: 2,
            request: request,
            data: Data(),
            response: response,
            retryState: .init()
        )
        #expect(activity.state == .show)
        activity.decrement()
        #expect(activity.state == .hide)
    }

    @Test("An ended observation receives no state that waited for its queue")
    func endedOnQueue() {
        let (activity, queue) = (NetworkActivity(), DispatchQueue(label: "observer"))
        let seen = Lock<[State]>([])
        queue.suspend()
        let observation = activity.observe(on: queue) { state in seen.withLock { $0.append(state) } }
        activity.increment()
        observation.cancel()
        queue.resume()
        let drained = DispatchGroup()
        queue.async(group: drained) {}
        queue.async(group: drained) { queue.async(group: drained) {} }
        drained.wait()
        #expect(seen.withLock { $0 } == [])
    }

    @Test("On a concurrent queue, an observer is called in order, one call at a time")
    func concurrentQueue() async throws {
        let (activity, isOver) = (NetworkActivity(), Gate())
        let seen = Lock<(states: [State], running: Int, most: Int)>(([], 0, 0))
        activity.observe(on: DispatchQueue(label: "observer", attributes: .concurrent)) { state in
            let count = seen.withLock { seen in
                seen.states.append(state)
                seen.running += 1
                seen.most = max(seen.most, seen.running)
                return seen.states.count
            }
            // Long enough for a concurrent call, if there were one.
            usleep(10_000)
            seen.withLock { $0.running -= 1 }
            if count == 10 { isOver.open() }
        }
        for _ in 1...5 {
            activity.increment()
            activity.decrement()
        }
        try await isOver.opened()
        #expect(seen.withLock { $0.most } == 1)
        let states = seen.withLock { $0.states }
        #expect(states.indices.allSatisfy { states[$0] == ($0.isMultiple(of: 2) ? .show : .hide) })
    }
}
