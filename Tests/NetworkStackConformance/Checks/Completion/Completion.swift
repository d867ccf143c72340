import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The time and number of completion calls, and the common behaviour of all forms of fetching.
    static let contract: [ConformanceCheck] = completion + forms

    private static let completion: [ConformanceCheck] = [
        ConformanceCheck("A fetch that succeeds completes exactly once") { subject in
            let peer = try subject.serve { .ok("hello \($0.path)") }
            let outcome = try await subject.stack().observe(peer.url("/once")).onlyOutcome()
            try expectEqual(try outcome.text(), "hello /once", "the body")
            try expectEqual(peer.requests().map(\.path), ["/once"], "what the server received")
        },
        ConformanceCheck("A fetch with an unsuccessful status completes exactly once") { subject in
            let peer = try subject.serve { _ in .status(404, "no") }
            let outcome = try await subject.stack().observe(peer.url("/")).onlyOutcome()
            guard case .failure(.http(404, nil, let response)) = outcome else {
                throw ConformanceFailure("Expected http(404), saw \(outcome.summary)")
            }
            try expectEqual(response.status, 404, "the response's status")
        },
        ConformanceCheck("A fetch without a reachable server completes exactly once", needs: [.network]) { subject in
            let closed = try ClosedPort.reserve()
            let outcome = try await subject.stack().observe("http://127.0.0.1:\(closed.port)/").onlyOutcome()
            try outcome.expectFailure(.connect)
        },
        ConformanceCheck("A fetch whose request cannot be made completes exactly once, with noRequest") { subject in
            struct Unmakeable: Error {}
            let outcome = try await subject.stack().observe(.made { handler in handler(.failure(Unmakeable())) })
                .onlyOutcome()
            guard case .failure(.noRequest(let error)) = outcome, error is Unmakeable else {
                throw ConformanceFailure("Expected noRequest(Unmakeable), saw \(outcome.summary)")
            }
        },
        ConformanceCheck("A maker that calls its handler twice sends one request") { subject in
            let peer = try subject.serve { .ok($0.path) }
            let (first, second) = (
                try HTTP.Request(url: peer.url("/first")), try HTTP.Request(url: peer.url("/second"))
            )
            let stack = try subject.stack()
            let outcome = try await stack.observe(
                .made { handler in
                    let cancelable = handler(.success(first))
                    _ = handler(.success(second))
                    return cancelable
                }
            ).onlyOutcome()
            try expectEqual(try outcome.text(), "/first", "the body")
            try await stack.text(peer.url("/after"))
            try expectEqual(peer.requests().map(\.path), ["/first", "/after"], "what the server received")
        },
        ConformanceCheck("An immediate failure is not completed before fetch has returned") { subject in
            let request = try HTTP.Request(url: "http://127.0.0.1/", headers: ["X": "a\r\nInjected: b"])
            try await completesAfterReturning(.success(request), on: subject.stack()) {
                guard case .failure(.invalidRequest) = $0 else {
                    throw ConformanceFailure("Expected invalidRequest, saw \($0.summary)")
                }
            }
            try await completesAfterReturning(.failure(CancellationError()), on: subject.stack()) {
                guard case .failure(.noRequest) = $0 else {
                    throw ConformanceFailure("Expected noRequest, saw \($0.summary)")
                }
            }
        },
        ConformanceCheck("An immediate response is not completed before fetch has returned") { subject in
            let peer = try subject.serve { _ in .ok("fast") }
            let request = try HTTP.Request(url: peer.url("/"))
            try await completesAfterReturning(.success(request), on: subject.stack()) {
                try expectEqual(try $0.text(), "fast", "the body")
            }
        },
        ConformanceCheck("A completion may block on a second fetch of the same stack") { subject in
            try await blockingCompletions(1, on: subject)
        },
        ConformanceCheck("Four completions may block on second fetches at the same time") { subject in
            try await blockingCompletions(4, on: subject)
        },
        ConformanceCheck("A wrapping stack may block on a second fetch in its completion") {
            subject in
            let peer = try subject.serve { .ok($0.path) }
            let second = try ConformanceSubject.Stack.Resource.get(peer.url("/second"))
            let outer = FetchingTwice(base: try subject.stack(), second: second)
            _ = try await bounded { try await outer.fetch(resource: .get(peer.url("/first"))) }
            try expectEqual(
                outer.wereServed.withLock { $0 },
                1,
                "second fetches that ended while the first waited for them"
            )
        },
    ]

    private static let forms: [ConformanceCheck] = [
        ConformanceCheck("Every form of a stack has the options that resources inherit") { subject in
            var configuration = Network.Configuration()
            configuration.sensitiveHeaders = ["X-Key"]
            configuration.options.timeouts.total = .seconds(7)
            let options = try [
                subject.make(configuration).options,
                subject.makeStreaming(configuration).options,
                subject.makeDownloading(configuration) { _ in "/nowhere/file" }.options,
            ]
            try expectEqual(
                options.map(\.sensitiveHeaders),
                Array(repeating: ["X-Key"], count: 3),
                "the secrets"
            )
            try expectEqual(
                options.map(\.timeouts.total),
                Array(repeating: .seconds(7), count: 3),
                "the total timeouts"
            )
        },
        ConformanceCheck("Every fetch of a resource makes its request afresh") { subject in
            let peer = try subject.serve { .ok($0.path) }
            let counter = Lock(0)
            let stack = try subject.stack()
            let resource = ConformanceSubject.Stack.Resource.made { handler in
                let number = counter.withLock { count in
                    count += 1
                    return count
                }
                return handler(Result { try HTTP.Request(url: peer.url("/\(number)")) })
            }
            for number in 1...3 {
                try expectEqual(try await stack.observe(resource).outcome().text(), "/\(number)", "fetch \(number)")
            }
        },
        ConformanceCheck("The asynchronous form returns the value and throws the stack's error") { subject in
            let peer = try subject.serve { $0.path == "/good" ? .ok("good") : .status(418, "bad") }
            let stack = try subject.stack()
            let fetched = try await bounded { try await stack.fetch(resource: .get(peer.url("/good"))) }
            try expectEqual(String(decoding: fetched.value, as: UTF8.self), "good", "the body")
            do {
                _ = try await bounded { try await stack.fetch(resource: .get(peer.url("/bad"))) }
                throw ConformanceFailure("A 418 was returned as a success")
            } catch let error as ConformanceSubject.Stack.FetchError {
                try expectEqual(error.statusCode, 418, "the status of \(error)")
            }
        },
        ConformanceCheck("A completion can run on a queue of the caller") { subject in
            let peer = try subject.serve { _ in .ok("queued") }
            let key = DispatchSpecificKey<Int>()
            let queue = DispatchQueue(label: "conformance")
            queue.setSpecific(key: key, value: 7)
            let (seen, called) = (Lock<Int?>(nil), Gate())
            try subject.stack().fetch(resource: .get(peer.url("/")), on: queue) { _ in
                let value = DispatchQueue.getSpecific(key: key)
                seen.withLock { $0 = value }
                called.open()
            }
            try await called.opened(within: .seconds(15))
            try expectEqual(seen.withLock { $0 }, 7, "the queue of the completion")
        },
        ConformanceCheck("fetchAndDecode returns a model and separates fetch failures from decoding failures") {
            subject in
            let peer = try subject.serve {
                switch $0.path {
                case "/model": .json("[1,2,3]")
                case "/text": .ok("not JSON")
                case "/nothing": .status(204)
                default: .status(500)
                }
            }
            let stack = try subject.stack()
            func decode<T: Decodable & Sendable>(_ path: String, as type: T.Type) async throws -> T {
                let resource = try ConformanceSubject.Stack.Resource.get(peer.url(path))
                let fetched = try await bounded {
                    try await stack.fetchAndDecode(resource: resource, decoding: .json(T.self))
                }
                return fetched.value
            }
            try expectEqual(try await decode("/model", as: [Int].self), [1, 2, 3], "the model")
            try expectEqual(try await decode("/nothing", as: [Int]?.self), nil, "the model of a 204")
            for (path, isDecoding) in [("/text", true), ("/nothing", true), ("/failing", false)] {
                do {
                    _ = try await decode(path, as: [Int].self)
                    throw ConformanceFailure("\(path) was decoded")
                } catch let error as FetchAndDecodeError<ConformanceSubject.Stack.FetchError> {
                    let wasDecoding = if case .decode = error { true } else { false }
                    try expectEqual(wasDecoding, isDecoding, "whether decoding failed for \(path), of \(error)")
                }
            }
        },
        ConformanceCheck("fetchAndDecode with a completion completes exactly once, on success and failure") { subject in
            let peer = try subject.serve {
                switch $0.path {
                case "/model": .json("{\"a\":1}")
                case "/text": .ok("not JSON")
                default: .status(500)
                }
            }
            let stack = try subject.stack()
            for (path, expected) in [("/model", 1), ("/text", nil), ("/failing", nil)] {
                let (seen, released) = (Lock<[Int?]>([]), Gate())
                let resource = try ConformanceSubject.Stack.Resource.get(peer.url(path))
                fetchAndDecode(resource, on: stack, Lifetime(released)) { model in seen.withLock { $0.append(model) } }
                try await released.opened(within: .seconds(15))
                try expectEqual(seen.withLock { $0 }, [expected], "what \(path) completed with")
            }
        },
    ]

    /// Fetches a model, and yields its `a` each time the completion is called.
    private static func fetchAndDecode(
        _ resource: ConformanceSubject.Stack.Resource,
        on stack: ConformanceSubject.Stack,
        _ lifetime: Lifetime,
        _ report: @escaping @Sendable (Int?) -> Void
    ) {
        stack.fetchAndDecode(resource: resource, decoding: .json([String: Int].self)) { result in
            withExtendedLifetime(lifetime) { report((try? result.get())?.value["a"]) }
        }
    }

    /// Hands a request over while `fetch` is running, and keeps `fetch` running for as long as an early completion
    /// needs.
    private static func completesAfterReturning(
        _ made: Result<HTTP.Request, any Error>,
        on stack: ConformanceSubject.Stack,
        _ verdict: (Outcome) throws -> Void
    ) async throws {
        let (completed, wasEarly, isFetching) = (Latch(), Lock(false), Lock(true))
        let observation = stack.observe(
            .made { handler in
                let cancelable = handler(made)
                // A stack that makes requests on another thread has returned meanwhile; then a completion is correct.
                if completed.wait(seconds: 0.25), isFetching.withLock({ $0 }) { wasEarly.withLock { $0 = true } }
                return cancelable
            },
            onCompletion: { _ in completed.open() }
        )
        isFetching.withLock { $0 = false }
        try verdict(try await observation.onlyOutcome())
        try expect(!wasEarly.withLock { $0 }, "The completion was called while fetch was running")
    }

    private static func blockingCompletions(_ count: Int, on subject: ConformanceSubject) async throws {
        let everyoneIsIn = Latch()
        let arrived = Lock(0)
        let peer = try subject.serve { .ok($0.path) }
        let stack = try subject.stack()
        let wereServed = Lock(0)
        let (first, second) = (peer.url("/first"), try ConformanceSubject.Stack.Resource.get(peer.url("/second")))
        let observations = try (0..<count).map { _ in
            try stack.observe(.get(first)) { _ in
                let isLast = arrived.withLock { arrived in
                    arrived += 1
                    return arrived == count
                }
                if isLast { everyoneIsIn.open() }
                guard everyoneIsIn.wait(seconds: 10) else { return }
                let done = Latch()
                stack.fetch(resource: second) { _ in done.open() }
                if done.wait(seconds: 10) { wereServed.withLock { $0 += 1 } }
            }
        }
        for observation in observations { _ = try await observation.onlyOutcome(within: .seconds(30)) }
        try expectEqual(
            wereServed.withLock { $0 },
            count,
            "second fetches that ended while a completion waited for them"
        )
    }
}

/// A wrapping stack of an app: it works in the completion of the other stack.
private struct FetchingTwice: NetworkStack {
    typealias Base = ConformanceSubject.Stack
    typealias Resource = Base.Resource
    typealias Remote = Data
    typealias Request = Base.Request
    typealias Response = Base.Response
    typealias FetchError = Base.FetchError

    let base: Base
    let second: Resource
    let wereServed = Lock(0)

    func fetch(resource: Resource, completion: @escaping Completion<Data>) -> any Cancelable {
        base.fetch(resource: resource) { result in
            let done = Latch()
            base.fetch(resource: second) { _ in done.open() }
            if done.wait(seconds: 10) { wereServed.withLock { $0 += 1 } }
            completion(result)
        }
    }
}
