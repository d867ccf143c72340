import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A fetch that ends before its request is made, and the calls that follow.
    static let cancelBeforeRequest: [ConformanceCheck] = [
        ConformanceCheck("A fetch awaited in a cancelled task sends nothing") { subject in
            let peer = try subject.serve { .ok($0.path) }
            let stack = try subject.stack()
            try await stack.text(peer.url("/warm"))
            let resource = try ConformanceSubject.Stack.Resource.get(peer.url("/late"))
            for _ in 0..<300 {
                try await expectCancelledBefore(resource, on: stack)
            }
            try await stack.text(peer.url("/after"))
            let late = peer.requests().filter { $0.path == "/late" }.count
            try expectEqual(late, 0, "requests that were sent")
        },
        ConformanceCheck(
            "A fetch in a cancelled task yields cancelled, whatever its maker does"
        ) {
            subject in
            struct Unmakeable: Error {}
            let stack = try subject.stack()
            let resource = ConformanceSubject.Stack.Resource.made { $0(.failure(Unmakeable())) }
            try await expectCancelledBefore(resource, on: stack)
        },
        ConformanceCheck("A cancel during the scheduled event sends nothing and reports one end") { subject in
            let peer = try subject.serve { .ok($0.path) }
            let stack = try subject.stack()
            try await stack.text(peer.url("/warm"))
            let log = EventLog()
            for _ in 0..<50 {
                let fetching = Lock<(any Cancelable)?>(nil)
                let spy = Spy("spy", log).with { spy in
                    spy.scheduled = { _ in fetching.withLock { $0 }?.cancel() }
                    spy.make = { made, handler in
                        let bag = CancelableBag()
                        Task.detached {
                            while fetching.withLock({ $0 == nil }) { await Task.yield() }
                            bag += handler(made)
                        }
                        return bag
                    }
                }
                let done = Gate()
                let summary = Lock("")
                let cancelable = stack.fetch(resource: try .intercepted(peer.url("/late"), by: [spy])) { result in
                    summary.withLock { $0 = result.summary }
                    done.open()
                }
                fetching.withLock { $0 = cancelable }
                try await done.opened()
                try expectEqual(summary.withLock { $0 }, "failure cancelled", "the outcome")
                fetching.withLock { $0 = nil }
            }
            try await stack.text(peer.url("/after"))
            try expectEqual(peer.requests().filter { $0.path == "/late" }.count, 0, "requests that were sent")
            try expectEqual(log.all.filter { $0.contains("fails") }.count, 50, "reported failures")
        },
        ConformanceCheck("A cancel during the scheduled event beats an expired timeout") { subject, scale in
            let (fetching, handOver) = (Lock<Observation?>(nil), Lock<(@Sendable () -> Void)?>(nil))
            let spy = Spy("spy", EventLog()).with { spy in
                spy.make = { made, handler in
                    handOver.withLock { $0 = { _ = handler(made) } }
                    return EmptyCancelable()
                }
                spy.scheduled = { _ in
                    Latch().wait(seconds: 0.4 * Double(scale))
                    fetching.withLock { $0 }?.cancel()
                }
            }
            let stack = try subject.stack { $0.options.timeouts.total = .milliseconds(200) * scale }
            let observation = try stack.observe(.intercepted("http://127.0.0.1:1/", by: [spy]))
            fetching.withLock { $0 = observation }
            try await eventually("the interceptor received the request") { handOver.withLock { $0 != nil } }
            handOver.withLock { $0.take() }?()
            try await observation.onlyOutcome().expectCancelled()
            fetching.withLock { $0 = nil }
        },
        ConformanceCheck("No interceptor receives a request after the fetch has ended") { subject in
            let log = EventLog()
            let held = Lock<[@Sendable () -> Void]>([])
            let first = Spy("first", log).with { spy in
                spy.make = { made, handler in
                    held.withLock { $0.append { _ = handler(made) } }
                    return EmptyCancelable()
                }
            }
            let observation = try subject.stack().observe(
                .intercepted("http://127.0.0.1:1/", by: [first, Spy("second", log)])
            )
            try await eventually("the first interceptor was called") { held.withLock { $0.count } == 1 }
            observation.cancel()
            try await observation.outcome().expectCancelled()
            // The held handlers retain the interceptor, which would retain them.
            while let handOn = held.withLock({ $0.popLast() }) { handOn() }
            try expect(
                !log.all.contains("second makes a request"),
                "The second interceptor received the request: \(log.all)"
            )
        },
        ConformanceCheck("A request made after the fetch has ended reaches no interceptor") { subject in
            let (maker, log) = (PatientMaker(), EventLog())
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: maker.resource().baseRequestMaking,
                interceptors: [Spy("spy", log)]
            )
            let observation = try subject.stack().observe(resource)
            try await eventually("the maker was called") { maker.count == 1 }
            observation.cancel()
            try await observation.outcome().expectCancelled()
            maker.handOver(try HTTP.Request(url: "http://127.0.0.1:1/"))
            try expectEqual(log.all, ["spy fails attempt 1 without a request"], "the reported events")
        },
    ]

    /// Awaits a fetch in a task that was cancelled before.
    static func expectCancelledBefore(
        _ resource: ConformanceSubject.Stack.Resource,
        on stack: ConformanceSubject.Stack
    ) async throws {
        let outcome = try await bounded {
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(ConformanceSubject.Stack.FetchError) {
                return Outcome.success(try await stack.fetch(resource: resource))
            } catch { return Outcome.failure(error) }
        }
        try outcome.expectCancelled()
    }
}
