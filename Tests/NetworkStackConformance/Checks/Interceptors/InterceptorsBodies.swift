import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Transforms of bodies by interceptors.
    static let contentIntercepted: [ConformanceCheck] = [
        ConformanceCheck("Interceptors transform the body in order, at once or later") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            func adding(_ text: String) -> AsyncParts {
                .init(transform: { data, response in
                    await Task.yield()
                    return data + Data("\(text)\(response.status)".utf8)
                })
            }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/"),
                by: [
                    // Interceptors that only observe are skipped, and do not affect the others.
                    AttemptListener { _, _ in }, adding("a"),
                    Spy("b").with { $0.content = { $1(.success($0 + Data("b".utf8))) } }, HTTPRetryPolicy.maxRetries(1),
                    adding("c"),
                ]
            )
            let outcome = try await subject.stack().observe(resource).onlyOutcome()
            try expectEqual(try outcome.text(), "xa200bc200", "the body")
        },
        ConformanceCheck("A throwing transform fails the attempt and takes no other path") { subject in
            struct Spoiled: Error {}
            let (log, failures) = (EventLog(), EventLog())
            let peer = try subject.serve { _ in .ok("x", headers: [("X-A", "1")]) }
            let judge = Spy("after", log).with {
                $0.vote = { event in
                    let text = event.data.map { String(decoding: $0, as: UTF8.self) } ?? "none"
                    failures.add("\(text) \(event.response?.headers["X-A"] ?? "none")")
                    return .none
                }
            }
            let spoil = AsyncParts(transform: { _, _ in throw Spoiled() })
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/"),
                by: [Spy("before", log), spoil, judge]
            )
            let refusal = try await subject.stack().observe(resource).onlyOutcome().refusal()
            guard case .interceptor(_ as Spoiled, _) = refusal else {
                throw ConformanceFailure("Expected interceptor(Spoiled), saw \(refusal)")
            }
            let begin = ["makes a request", "schedules attempt 1"].flatMap { ["before \($0)", "after \($0)"] }
            let end = ["before takes x", "before fails attempt 1", "after fails attempt 1"]
            try expectEqual(log.all, begin + end, "the events")
            try expectEqual(failures.all, ["x 1"], "the body and the response of the failure")
        },
        ConformanceCheck("A failed transform can be tried again") { subject in
            struct Spoiled: Error {}
            let (count, peer) = (Lock(0), try subject.serve { _ in .ok("x") })
            let spoil = Spy("spoil").with {
                $0.content = { data, handler in
                    let isFirst = count.withLock { count in
                        count += 1
                        return count == 1
                    }
                    return handler(isFirst ? .failure(Spoiled()) : .success(data))
                }
                $0.vote = { _ in .retry }
            }
            let outcome = try await subject.stack().observe(.intercepted(peer.url("/"), by: [spoil])).onlyOutcome()
            try expectEqual(try outcome.text(), "x", "the body")
            try expectEqual(peer.requests().count, 2, "requests on the wire")
        },
        ConformanceCheck("A later result of a transform counts like an immediate one") { subject in
            struct Spoiled: Error {}
            let (count, log, peer) = (Lock(0), EventLog(), try subject.serve { _ in .ok("x") })
            let late = Spy("late", log).with {
                $0.content = { data, handler in
                    let isFirst = count.withLock { count in
                        count += 1
                        return count == 1
                    }
                    Task {
                        try await Task.sleep(for: .milliseconds(50))
                        _ = handler(isFirst ? .failure(Spoiled()) : .success(data))
                    }
                    return EmptyCancelable()
                }
                $0.vote = { _ in .retry }
            }
            let outcome = try await subject.stack().observe(.intercepted(peer.url("/"), by: [late])).onlyOutcome()
            try expectEqual(try outcome.text(), "x", "the body")
            try expectEqual(peer.requests().count, 2, "requests on the wire")
            let attempts = log.all.filter { $0.contains("attempt") }
            try expectEqual(attempts.count { $0.contains("fails") }, 1, "failures in \(attempts)")
        },
        ConformanceCheck("The body of a failed response is not transformed") { subject in
            let (log, peer) = (EventLog(), try subject.serve { _ in .status(500, "x") })
            _ = try await subject.stack().observe(.intercepted(peer.url("/"), by: [Spy("spy", log)])).onlyOutcome()
            try expect(!log.all.contains("spy takes x"), "the events: \(log.all)")
        },
        ConformanceCheck("A cancel during a transform ends the fetch") { subject in
            let (began, ended, peer) = (Gate(), Gate(), try subject.serve { _ in .ok("x") })
            let slow = AsyncParts(transform: { data, _ in
                began.open()
                defer { ended.open() }
                try await Task.sleep(for: .seconds(60))
                return data
            })
            let observation = try subject.stack().observe(.intercepted(peer.url("/"), by: [slow]))
            try await began.opened()
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            try await ended.opened()
        },
        ConformanceCheck("A fetch releases the cancelables that its interceptors returned") {
            subject in
            let (held, peer) = (Lock<[Held]>([]), try subject.serve { _ in .ok("x") })
            @Sendable func later(_ goOn: @escaping @Sendable () -> any Cancelable) -> any Cancelable {
                let bag = CancelableBag()
                held.withLock { $0.append(Held(bag: bag)) }
                Task { bag += goOn() }
                return bag
            }
            let spy = Spy("later").with {
                $0.make = { made, handler in later { handler(made) } }
                $0.content = { data, handler in later { handler(.success(data)) } }
            }
            try await subject.stack().observe(.intercepted(peer.url("/"), by: [spy, spy])).onlyOutcome().value()
            try await eventually("all cancelables are released") {
                held.withLock { $0.count == 4 && $0.allSatisfy { $0.bag == nil } }
            }
        },
    ]
}

/// A value that an interceptor returned, which must be released after the fetch.
private struct Held {
    weak var bag: CancelableBag?
}
