import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The calls and decisions of interceptors.
    static let interceptors: [ConformanceCheck] =
        eventOrders + requestsIntercepted + contentIntercepted + interceptorsAtWork

    private static let eventOrders: [ConformanceCheck] =
        [0, 1, 3].flatMap { count in
            [
                ConformanceCheck("With \(count) interceptors, the events of a success come in order") { subject in
                    let (log, names) = (EventLog(), (1...3).prefix(count).map { "\($0)" })
                    let peer = try subject.serve { _ in .ok("x") }
                    let spies = names.map { Spy($0, log) }
                    let observation = try subject.stack().observe(.intercepted(peer.url("/"), by: spies)) { _ in
                        log.add("completion")
                    }
                    try expectEqual(try await observation.onlyOutcome().text(), "x", "the body")
                    let expected =
                        ["makes a request", "schedules attempt 1", "takes x", "succeeds with x"]
                        .flatMap { event in names.map { "\($0) \(event)" } }
                    try expectEqual(log.all, expected + ["completion"], "the events")
                },
                ConformanceCheck("With \(count) interceptors, the events of a failure come in order") { subject in
                    let (log, names) = (EventLog(), (1...3).prefix(count).map { "\($0)" })
                    let peer = try subject.serve { _ in .status(500, "x") }
                    let spies = names.map { Spy($0, log) }
                    let observation = try subject.stack().observe(.intercepted(peer.url("/"), by: spies)) { _ in
                        log.add("completion")
                    }
                    guard case .failure(.http(500, nil, _)) = try await observation.onlyOutcome() else {
                        throw ConformanceFailure("Expected a 500")
                    }
                    let expected =
                        ["makes a request", "schedules attempt 1", "fails attempt 1"]
                        .flatMap { event in names.map { "\($0) \(event)" } }
                    try expectEqual(log.all, expected + ["completion"], "the events")
                },
                ConformanceCheck("With \(count) interceptors, a request that cannot be made fails in order") {
                    subject in
                    struct Unmakeable: Error {}
                    let (log, names) = (EventLog(), (1...3).prefix(count).map { "\($0)" })
                    let resource = ConformanceSubject.Stack.Resource(
                        baseRequestMaking: .init { $0(.failure(Unmakeable())) },
                        interceptors: names.map { Spy($0, log) }
                    )
                    guard
                        case .failure(.noRequest(_ as Unmakeable)) = try await subject.stack().observe(resource)
                            .onlyOutcome()
                    else { throw ConformanceFailure("Expected noRequest") }
                    let expected = ["makes nothing", "fails attempt 1 without a request"]
                        .flatMap { event in names.map { "\($0) \(event)" } }
                    try expectEqual(log.all, expected, "the events")
                },
            ]
        } + [
            ConformanceCheck("The stack's interceptors precede the resource's in every event") { subject in
                let log = EventLog()
                let peer = try subject.serve { $0.path == "/good" ? .ok("x") : .status(500) }
                let stack = try subject.stack { $0.interceptors = [Spy("stack", log)] }
                try await stack.observe(.intercepted(peer.url("/good"), by: [Spy("own", log)])).onlyOutcome().value()
                _ = try await stack.observe(.intercepted(peer.url("/bad"), by: [Spy("own", log)])).onlyOutcome()
                let events = ["makes a request", "schedules attempt 1", "takes x", "succeeds with x"]
                let failed = ["makes a request", "schedules attempt 1", "fails attempt 1"]
                let expected = (events + failed).flatMap { ["stack \($0)", "own \($0)"] }
                try expectEqual(log.all, expected, "the events")
            },
            ConformanceCheck("Each attempt has one identifier in all its events") { subject in
                let (begun, ended) = (Lock<[Int]>([]), Lock<[Int]>([]))
                let count = Lock(0)
                let peer = try subject.serve { _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return number < 3 ? .status(503) : .ok("x")
                }
                let spy = Spy("spy").with {
                    $0.scheduled = { event in begun.withLock { $0.append(event.identifier) } }
                    $0.succeeded = { event in ended.withLock { $0.append(event.identifier) } }
                    $0.vote = { event in
                        ended.withLock { $0.append(event.identifier) }
                        return .retry
                    }
                }
                let stack = try subject.stack()
                try await stack.observe(.intercepted(peer.url("/"), by: [spy])).onlyOutcome().value()
                try await stack.observe(.intercepted(peer.url("/"), by: [spy])).onlyOutcome().value()
                try expectEqual(begun.withLock { $0 }, ended.withLock { $0 }, "the identifiers at begin and end")
                try expectEqual(Set(begun.withLock { $0 }).count, 4, "different identifiers")
            },
            ConformanceCheck("A redirect is not a new attempt") { subject in
                let log = EventLog()
                let peer = try subject.serve { $0.path == "/" ? .redirect(to: "/next") : .ok("x") }
                try await subject.stack().observe(.intercepted(peer.url("/"), by: [Spy("spy", log)])).onlyOutcome()
                    .value()
                let expected = ["makes a request", "schedules attempt 1", "takes x", "succeeds with x"].map {
                    "spy \($0)"
                }
                try expectEqual(log.all, expected, "the events")
            },
            ConformanceCheck("A response that is not HTTP is reported to interceptors (upstream R6)", needs: [.network])
            {
                subject in
                let log = EventLog()
                let server = try ScriptedServer { _ in [.receiveHead, .send("no HTTP at all\r\n\r\n"), .close] }
                let outcome = try await subject.stack().observe(.intercepted(server.url("/"), by: [Spy("spy", log)]))
                    .onlyOutcome()
                guard case .failure(.badResponse) = outcome else {
                    throw ConformanceFailure("Expected a bad response, saw \(outcome.summary)")
                }
                try expectEqual(log.all.last, "spy fails attempt 1", "the last event")
                try expectEqual(log.all.count, 3, "the events")
            },
            ConformanceCheck("A success that lacks required data fails and is voted on") {
                subject in
                let (log, failures) = (EventLog(), Lock<[String]>([]))
                let peer = try subject.serve { _ in .status(200) }
                let spy = Spy("spy", log).with {
                    $0.vote = { event in
                        failures.withLock { failures in
                            failures.append((event.error as? any HTTPError)?.summary ?? "nothing")
                            return failures.count == 1 ? .retry : .none
                        }
                    }
                }
                let outcome = try await subject.stack().observe(.intercepted(peer.url("/"), by: [spy])).onlyOutcome()
                guard case .failure(.noData(200, _)) = outcome else {
                    throw ConformanceFailure("Expected no data, saw \(outcome.summary)")
                }
                let expected = Array(repeating: "no data with status 200", count: 2)
                try expectEqual(failures.withLock { $0 }, expected, "the errors of the attempts")
                try expectEqual(peer.requests().count, 2, "requests")
                try expect(
                    !log.all.contains { $0.contains("takes") || $0.contains("succeeds") },
                    "The events are \(log.all)"
                )
            },
            ConformanceCheck("A refused request is reported to interceptors") { subject in
                let log = EventLog()
                let request = try HTTP.Request(url: "http://127.0.0.1/", headers: ["X": "a\r\nb"])
                let outcome = try await subject.stack().observe(
                    .init(baseRequestMaking: .request(request), interceptors: [Spy("spy", log)])
                ).onlyOutcome()
                try expect(
                    log.all.dropFirst() == ["spy fails attempt 1 without a request"],
                    "Expected the failure of an unsent request: \(log.all), \(outcome.summary)"
                )
            },
        ]

    private static let requestsIntercepted: [ConformanceCheck] = [
        ConformanceCheck("Each interceptor sees the request as its predecessor made it") { subject in
            let peer = try subject.serve { .ok($0.values(of: "X").joined(separator: ",")) }
            let spies = (1...3).map { number in
                Spy("\(number)").with {
                    $0.make = { made, handler in
                        handler(
                            made.map { request in
                                var request = request
                                request.headers["X"] = (request.headers["X"] ?? "") + "\(number)"
                                return request
                            }
                        )
                    }
                }
            }
            let outcome = try await subject.stack().observe(.intercepted(peer.url("/"), by: spies)).onlyOutcome()
            try expectEqual(try outcome.text(), "123", "what the interceptors added, in order")
        },
        ConformanceCheck("An interceptor may turn failures into requests and requests into failures") { subject in
            struct First: Error {}
            struct Second: Error {}
            let (log, peer) = (EventLog(), try subject.serve { .ok($0.path) })
            let saved = try HTTP.Request(url: peer.url("/saved"))
            let rescue = Spy("rescue", log).with { $0.make = { _, handler in handler(.success(saved)) } }
            let fail = Spy("fail", log).with { $0.make = { _, handler in handler(.failure(Second())) } }
            let stack = try subject.stack()
            func outcome(_ interceptors: [Spy]) async throws -> Outcome {
                try await stack.observe(
                    .init(baseRequestMaking: .init { $0(.failure(First())) }, interceptors: interceptors)
                ).onlyOutcome()
            }
            try expectEqual(try await outcome([Spy("before", log), rescue, Spy("after", log)]).text(), "/saved", "it")
            try expectEqual(
                Array(log.all.prefix(3)),
                ["before makes nothing", "rescue makes nothing", "after makes a request"],
                "the input of each interceptor"
            )
            guard case .failure(.noRequest(_ as Second)) = try await outcome([rescue, fail]) else {
                throw ConformanceFailure("Expected the second failure")
            }
            try expectEqual(peer.requests().count, 1, "requests on the wire")
        },
        ConformanceCheck("An interceptor may pass the request on later, from elsewhere") { subject in
            let peer = try subject.serve { .ok($0.path) }
            let later = Spy("later").with {
                $0.make = { made, handler in
                    let bag = CancelableBag()
                    Task { bag += handler(made) }
                    return bag
                }
            }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(peer.url("/late"), by: [later, later])
            try expectEqual(try await subject.stack().observe(resource).onlyOutcome().text(), "/late", "the body")
        },
        ConformanceCheck("A handler that is called twice sends one request (upstream R5)") { subject in
            let (peer, log) = (try subject.serve { .ok($0.path) }, EventLog())
            let twice = Spy("twice").with {
                $0.make = { made, handler in
                    let first = handler(made)
                    _ = handler(made)
                    return first
                }
                $0.content = { data, handler in
                    let first = handler(.success(data))
                    _ = handler(.success(Data("again".utf8)))
                    return first
                }
            }
            let stack = try subject.stack()
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/once"),
                by: [twice, Spy("next", log), twice]
            )
            try expectEqual(try await stack.observe(resource).onlyOutcome().text(), "/once", "the body")
            try await stack.text(peer.url("/after"))
            try expectEqual(peer.requests().map(\.path), ["/once", "/after"], "what the server received")
            try expectEqual(
                log.all,
                ["makes a request", "schedules attempt 1", "takes /once", "succeeds with /once"].map { "next \($0)" },
                "the events of the second interceptor"
            )
        },
        ConformanceCheck("An interceptor may change requests later, and its error ends the fetch") {
            subject in
            struct Unmakeable: Error {}
            let peer = try subject.serve { .ok($0["x-made"] ?? "") }
            let interceptor = AsyncParts(make: { request in
                await Task.yield()
                guard request.headers["X-Bad"] == nil else { throw Unmakeable() }
                var request = request
                request.headers["X-Made"] = "yes"
                return request
            })
            // Interceptors that only observe do not affect the others.
            let stack = try subject.stack { $0.interceptors = [AttemptListener { _, _ in }, interceptor] }
            try expectEqual(try await stack.text(peer.url("/")), "yes", "the body")
            guard
                case .failure(.noRequest(_ as Unmakeable)) =
                    try await stack.observe(peer.url("/"), headers: ["X-Bad": "1"]).onlyOutcome()
            else { throw ConformanceFailure("Expected noRequest") }
        },
    ]
}
