import Foundation
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The effect of a cancel at any time.
    static let cancellation: [ConformanceCheck] =
        cancelWhileMaking + cancelBeforeRequest + cancelAnyTime + cancelInFlight + cancelAtRandom

    private static let cancelWhileMaking: [ConformanceCheck] = [
        ConformanceCheck("A cancel during the making of a request cancels its maker") { subject in
            let maker = PatientMaker()
            let observation = try subject.stack().observe(maker.resource())
            try await eventually("the maker was called") { maker.count == 1 }
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            try expectEqual(maker.cancelable.count, 1, "cancels of the maker")
        },
        ConformanceCheck("A request made after the cancel is not sent") { subject in
            let (maker, peer) = (PatientMaker(), try subject.serve { .ok($0.path) })
            let stack = try subject.stack()
            let observation = stack.observe(maker.resource())
            try await eventually("the maker was called") { maker.count == 1 }
            observation.cancel()
            try await observation.outcome(within: .seconds(10)).expectCancelled()
            maker.handOver(try HTTP.Request(url: peer.url("/late")))
            try await stack.text(peer.url("/after"))
            try expectEqual(peer.requests().map(\.path), ["/after"], "what the server received")
            _ = try await observation.onlyOutcome()
        },
        ConformanceCheck("A request made later is sent, and a cancel ends it") { subject in
            let (held, arrived) = (Latch(), Gate())
            let peer = try subject.serve {
                if $0.path == "/held" {
                    arrived.open()
                    held.wait()
                }
                return .ok($0.path)
            }
            defer { held.open() }
            let maker = PatientMaker()
            let stack = try subject.stack()
            let observation = stack.observe(maker.resource())
            try await eventually("the maker was called") { maker.count == 1 }
            maker.handOver(try HTTP.Request(url: peer.url("/held")))
            try await arrived.opened()
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            try expectEqual(maker.cancelable.count, 0, "cancels of a finished maker")
        },
        ConformanceCheck("Cancelling the fetch cancels the task that makes the request") { subject in
            let (began, ended) = (Gate(), Gate())
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .task {
                    began.open()
                    defer { ended.open() }
                    try await Task.sleep(for: .seconds(60))
                    return try HTTP.Request(url: "http://127.0.0.1/")
                }
            )
            let observation = try subject.stack().observe(resource)
            try await began.opened()
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            try await ended.opened(within: .seconds(5))
        },
        ConformanceCheck("Cancelling the result of a maker's handler cancels the fetch") { subject in
            let (peer, held) = try subject.serveLate()
            defer { held.open() }
            let request = try HTTP.Request(url: peer.url("/"))
            for interceptors in [[], [Spy("spy")]] as [ConformanceSubject.Stack.Resource.Interceptors] {
                let observation = try subject.stack().observe(
                    .made(by: interceptors) { handler in
                        let following = handler(.success(request))
                        following.cancel()
                        return following
                    }
                )
                try await observation.onlyOutcome().expectCancelled()
            }
        },
        ConformanceCheck("Cancelling the result of a maker's handler ends an interceptor's wait") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let request = try HTTP.Request(url: peer.url("/"))
            let began = Gate()
            // It takes the request, and never passes it on.
            var waiting = Spy("spy")
            waiting.make = { _, _ in
                began.open()
                return EmptyCancelable()
            }
            let following = Lock<(any Cancelable)?>(nil)
            let observation = try subject.stack().observe(
                .made(by: [waiting]) { handler in
                    let all = handler(.success(request))
                    following.withLock { $0 = all }
                    return all
                }
            )
            try await began.opened()
            try await eventually("the handler has returned") { following.withLock { $0 != nil } }
            following.withLock { $0 }?.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
        },
    ]

    private static let cancelAnyTime: [ConformanceCheck] = [
        ConformanceCheck("A cancel right after the call ends the fetch as cancelled") { subject in
            let (peer, held) = try subject.serveLate()
            defer { held.open() }
            let stack = try subject.stack()
            for _ in 1...20 {
                let observation = try stack.observe(peer.url("/"))
                observation.cancel()
                try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            }
        },
        ConformanceCheck("A second cancel changes nothing") { subject in
            try await cancelWhileWaiting(on: subject) { observation in
                observation.cancel()
                observation.cancel()
            }
        },
        ConformanceCheck("A hundred threads may cancel one fetch at the same moment") { subject in
            try await cancelWhileWaiting(on: subject) { observation in
                let (ready, go) = (Lock(0), Gate())
                for _ in 1...100 {
                    Thread.detachNewThread {
                        ready.withLock { $0 += 1 }
                        while !go.isOpen { sched_yield() }
                        observation.cancel()
                    }
                }
                try await eventually("a hundred threads are ready") { ready.withLock { $0 } == 100 }
                go.open()
            }
        },
        ConformanceCheck("A cancel after the completion changes nothing and keeps the connection") { subject in
            let peer = try subject.serve { .ok($0.path) }
            let stack = try subject.stack()
            let observation = try stack.observe(peer.url("/first"))
            try expectEqual(try await observation.onlyOutcome().text(), "/first", "the first body")
            observation.cancel()
            try expectEqual(try await stack.text(peer.url("/second")), "/second", "the second body")
            let connections = Set(peer.requests().map(\.connectionIndex))
            try expectEqual(connections, [0], "connections used")
        },
        ConformanceCheck("A cancel from within the completion changes nothing") { subject in
            let peer = try subject.serve { .ok($0.path) }
            let own = Lock<Observation?>(nil)
            let (isKnown, wasCancelled) = (Latch(), Gate())
            let observation = try subject.stack().observe(.get(peer.url("/"))) { _ in
                isKnown.wait(seconds: 5)
                own.withLock { $0 }?.cancel()
                wasCancelled.open()
            }
            own.withLock { $0 = observation }
            isKnown.open()
            try await wasCancelled.opened()
            try expectEqual(try await observation.onlyOutcome().text(), "/", "the body")
            own.withLock { $0 = nil }
        },
        ConformanceCheck("Cancelling the task that awaits a fetch yields cancelled") { subject in
            let (held, arrived) = (Latch(), Gate())
            let peer = try subject.serve { _ in
                arrived.open()
                held.wait()
                return .ok("late")
            }
            defer { held.open() }
            let stack = try subject.stack()
            let resource = try ConformanceSubject.Stack.Resource.get(peer.url("/"))
            let (outcome, ended) = (Lock<Outcome?>(nil), Gate())
            let task = Task {
                let seen: Outcome
                do throws(ConformanceSubject.Stack.FetchError) {
                    seen = .success(try await stack.fetch(resource: resource))
                } catch { seen = .failure(error) }
                outcome.withLock { $0 = seen }
                ended.open()
            }
            try await arrived.opened()
            task.cancel()
            try await ended.opened(within: .seconds(10))
            try outcome.withLock { $0 }?.expectCancelled()
        },
        ConformanceCheck("A fetch awaited in a cancelled task yields cancelled") { subject in
            let stack = try subject.stack()
            let resource = PatientMaker().resource()
            try await expectCancelledBefore(resource, on: stack)
        },
        ConformanceCheck("Cancelling a task group ends its thousand fetches as cancelled") { subject in
            let stack = try subject.stack()
            let (maker, cancelled) = (PatientMaker(), Lock(0))
            try await bounded(.seconds(30)) {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 1...1000 {
                        group.addTask {
                            do throws(ConformanceSubject.Stack.FetchError) {
                                _ = try await stack.fetch(resource: maker.resource())
                            } catch {
                                if case .cancelled = error { cancelled.withLock { $0 += 1 } }
                            }
                        }
                    }
                    group.cancelAll()
                    await group.waitForAll()
                }
            }
            try expectEqual(cancelled.withLock { $0 }, 1000, "fetches that ended as cancelled")
        },
    ]

    /// Cancels a fetch whose server has its request and does not answer.
    private static func cancelWhileWaiting(
        on subject: ConformanceSubject,
        _ cancel: (Observation) async throws -> Void
    ) async throws {
        let (held, arrived) = (Latch(), Gate())
        let peer = try subject.serve { _ in
            arrived.open()
            held.wait()
            return .ok("late")
        }
        defer { held.open() }
        let observation = try subject.stack().observe(peer.url("/"))
        try await arrived.opened()
        try await cancel(observation)
        try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
    }
}
