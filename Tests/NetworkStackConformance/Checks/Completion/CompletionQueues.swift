import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Fetches that complete on a queue of the caller.
    static let callbacks: [ConformanceCheck] =
        [
            ("the caller's queue", DispatchQueue(label: "conformance.callbacks")),
            ("the main queue", DispatchQueue.main),
        ].flatMap { name, queue in
            [
                ConformanceCheck("A fetch completes once on \(name), after returning") { subject in
                    let peer = try subject.serve { $0.path.hasSuffix("/ok") ? .ok("done") : .status(500) }
                    let stack = try subject.stack()
                    for path in ["/ok", "/failed"] {
                        let calls = Calls(on: queue)
                        let resource = try ConformanceSubject.Stack.Resource.get(peer.url(path))
                        try await calls.expectOne { lifetime in
                            stack.fetch(resource: resource, on: queue) { _ in
                                withExtendedLifetime(lifetime) { calls.note() }
                            }
                        }
                    }
                    // A failure before anything is sent completes in the same way.
                    let illegal = Calls(on: queue)
                    let method = ConformanceSubject.Stack.Resource(
                        baseRequestMaking: .request(HTTP.Request(method: "a b", url: URL(filePath: "/")))
                    )
                    try await illegal.expectOne { lifetime in
                        stack.fetch(resource: method, on: queue) { _ in
                            withExtendedLifetime(lifetime) { illegal.note() }
                        }
                    }
                    // So does an immediate failure, and not while `fetch` is running.
                    let (calls, called, isFetching, wasEarly) = (Calls(on: queue), Latch(), Lock(true), Lock(false))
                    let refused = ConformanceSubject.Stack.Resource.made { handler in
                        let cancelable = handler(.failure(CancellationError()))
                        // A stack that makes requests on another thread has returned meanwhile; then a completion is correct.
                        if called.wait(seconds: 0.25), isFetching.withLock({ $0 }) { wasEarly.withLock { $0 = true } }
                        return cancelable
                    }
                    try await calls.expectOne { lifetime in
                        defer { isFetching.withLock { $0 = false } }
                        return stack.fetch(resource: refused, on: queue) { _ in
                            withExtendedLifetime(lifetime) { calls.note() }
                            called.open()
                        }
                    }
                    try expect(!wasEarly.withLock { $0 }, "The completion was called while fetch was running")
                },
                ConformanceCheck("A decoding fetch completes on \(name) and decodes elsewhere") { subject in
                    let peer = try subject.serve { _ in .json("[1,2]") }
                    let stack = try subject.stack()
                    let (calls, decodes) = (Calls(on: queue), Calls(on: queue))
                    let decoding = ModelDecoding<[Int], Data, HTTP.Response> { data, _ in
                        decodes.note()
                        return try JSONDecoder().decode([Int].self, from: data)
                    }
                    let resource = try ConformanceSubject.Stack.Resource.get(peer.url("/"))
                    let sum = Lock(0)
                    try await calls.expectOne { lifetime in
                        stack.fetchAndDecode(resource: resource, decoding: decoding, on: queue) { result in
                            sum.withLock { $0 = ((try? result.get().value) ?? []).reduce(0, +) }
                            withExtendedLifetime(lifetime) { calls.note() }
                        }
                    }
                    try expectEqual(sum.withLock { $0 }, 3, "the sum of the model")
                    try expectEqual(decodes.places, [false], "decoding on the queue of the callback")
                },
            ]
        } + cancels

    private static let cancels: [ConformanceCheck] = [
        ConformanceCheck("A cancel is honoured until the completion runs on the caller's queue") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let (stack, queue) = (try subject.stack(), DispatchQueue(label: "conformance.cancels"))
            let (isHeld, areCancelled) = (Latch(), Lock<[Bool]>([]))
            queue.async { isHeld.wait() }
            let resource = try ConformanceSubject.Stack.Resource.get(peer.url("/"))
            let fetching = stack.fetch(resource: resource, on: queue) { result in
                areCancelled.withLock { $0.append(isCancelled(result)) }
            }
            let decoding = stack.fetchAndDecode(resource: resource, decoding: .none, on: queue) { result in
                areCancelled.withLock { $0.append(isCancelled(result)) }
            }
            try await eventually("both requests have arrived") { peer.requests().count == 2 }
            // By then the completions wait in the queue.
            try await Task.sleep(for: .milliseconds(200))
            fetching.cancel()
            decoding.cancel()
            isHeld.open()
            try await eventually("both fetches have completed") { areCancelled.withLock { $0.count } == 2 }
            try expectEqual(areCancelled.withLock { $0 }, [true, true], "whether they were cancelled")
        },
        ConformanceCheck("A cancel during decoding cancels the fetch, in every form") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let stack = try subject.stack()
            let resource = try ConformanceSubject.Stack.Resource.get(peer.url("/"))
            let awaited = try await bounded {
                do throws(FetchAndDecodeError<ConformanceSubject.Stack.FetchError>) {
                    let decoding = ModelDecoding<Void, Data, HTTP.Response> { _, _ in
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                    _ = try await stack.fetchAndDecode(resource: resource, decoding: decoding)
                    return false
                } catch { return isCancelled(.failure(error) as Result<Void, _>) }
            }
            try expectEqual(awaited, true, "whether the asynchronous form was cancelled")
            let (fetching, hasReturned, completed) = (CancelableBag(), Latch(), Lock<Bool?>(nil))
            fetching += stack.fetchAndDecode(
                resource: resource,
                decoding: .init { _, _ in
                    hasReturned.wait()
                    fetching.cancel()
                }
            ) { result in completed.withLock { $0 = isCancelled(result) } }
            hasReturned.open()
            try await eventually("the other form has completed") { completed.withLock { $0 != nil } }
            try expectEqual(completed.withLock { $0 }, true, "whether the form that calls back was cancelled")
        },
    ]

    private static func isCancelled<T>(_ result: Result<T, ConformanceSubject.Stack.FetchError>) -> Bool {
        if case .failure(.cancelled) = result { true } else { false }
    }

    private static func isCancelled<T>(
        _ result: Result<T, FetchAndDecodeError<ConformanceSubject.Stack.FetchError>>
    ) -> Bool {
        if case .failure(.fetch(.cancelled)) = result { true } else { false }
    }
}

/// Records whether it was called on a queue.
private final class Calls: Sendable {
    private let key = DispatchSpecificKey<ObjectIdentifier>()
    private let queue: DispatchQueue
    private let noted = Lock<[Bool]>([])
    private let called = Gate()

    init(on queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: key, value: ObjectIdentifier(self))
    }

    deinit { queue.setSpecific(key: key, value: nil) }

    /// For each call, whether it was on the queue.
    var places: [Bool] { noted.withLock { $0 } }

    func note() {
        let isThere = DispatchQueue.getSpecific(key: key) == ObjectIdentifier(self)
        noted.withLock { $0.append(isThere) }
        called.open()
    }

    /// Starts a fetch and expects one call of its completion, on the queue. The completion retains the lifetime, which ends when
    /// the completion can no longer be called.
    func expectOne(_ begin: (Lifetime) -> any Cancelable) async throws {
        let released = Gate()
        _ = begin(Lifetime(released))
        do { try await called.opened(within: .seconds(15)) } catch is WaitTimedOut {
            throw ConformanceFailure("The completion was not called")
        }
        do { try await released.opened(within: .seconds(10)) } catch is WaitTimedOut {
            throw ConformanceFailure("The stack retains the completion of a fetch that has ended")
        }
        try expectEqual(places, [true], "calls on the queue")
    }
}
