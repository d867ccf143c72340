import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("The end of a URLSession stack", .timeLimit(.minutes(1)))
struct LifecycleTests {
    /// A server whose answers wait for a gate, by way of a redirect.
    private static func server(_ gate: Gate, _ arrived: Gate) throws -> ScriptedServer {
        try ScriptedServer.responding { request in
            guard request.path == "/end" else { return .redirect(to: "/end") }
            arrived.open()
            return Reply.steps([.wait(for: gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")])
        }
    }

    @Test("finishFetchesAndInvalidateSession finishes a fetch and its redirects, then frees stack and session")
    func finishing() async throws {
        let (gate, arrived) = (Gate(), Gate())
        let server = try Self.server(gate, arrived)
        weak var stack: Stack?
        weak var session: URLSession?
        let (outcome, late) = (Lock<Fetched?>(nil), Lock<Fetched?>(nil))
        try {
            let network = Stack.injected()
            (stack, session) = (network, network.session)
            network.fetch(resource: try .url(server.url("/start"))) { result in outcome.withLock { $0 = result } }
            network.finishFetchesAndInvalidateSession()
            network.finishFetchesAndInvalidateSession()
            network.fetch(resource: try .url(server.url("/late"))) { result in late.withLock { $0 = result } }
        }()
        try await arrived.opened()
        #expect(try await eventually { late.withLock { $0 } != nil })
        #expect(late.withLock { $0 }?.summary == "shut down")
        #expect(outcome.withLock { $0 } == nil)
        #expect(session != nil)
        gate.open()
        #expect(try await eventually { outcome.withLock { $0 } != nil })
        #expect(outcome.withLock { $0 }?.summary == "success done")
        #expect(try await eventually { stack == nil && session == nil })
        #expect(server.requests.map(\.path) == ["/start", "/end"])
    }

    @Test("A view made before finishFetchesAndInvalidateSession fetches no more, and releases the session")
    func finishingWithAView() async throws {
        let server = try ScriptedServer.responding { _ in .ok("done") }
        let network = Stack.injected()
        let (view, erased) = (network.streaming, AnyHTTPNetworkStack(network.downloads(to: "/nowhere/file")))
        _ = try await network.fetch(resource: try .url(server.url("/first")))
        network.finishFetchesAndInvalidateSession()
        let late = await #expect(throws: Network.URLSessionError.self) {
            try await view.fetch(resource: try .url(server.url("/late")))
        }
        #expect(late?.summary == "The stack was shut down.")
        let later = await #expect(throws: HTTPFetchError<HTTP.Response, any Error>.self) {
            let request = try HTTP.Request(url: server.url("/later"))
            return try await erased.fetch(resource: .init(baseRequestMaking: .request(request)))
        }
        #expect(later?.summary == "The stack was shut down.")
        #expect(try await eventually { network.session?.delegate == nil })
        #expect(server.requests.map(\.path) == ["/first"])
    }

    @Test("finishFetchesAndInvalidateSession frees a stack that never fetched")
    func finishingUnused() async throws {
        weak var stack: Stack?
        do {
            let network = Stack.injected()
            stack = network
            network.finishFetchesAndInvalidateSession()
        }
        #expect(try await eventually { stack == nil })
        weak var bare: Stack?
        do {
            let network = Stack()
            bare = network
            network.finishFetchesAndInvalidateSession()
        }
        #expect(bare == nil)
    }

    @Test("A dropped one-line stack is freed, its fetch succeeds, and then the session is freed")
    func dropping() async throws {
        let (gate, arrived) = (Gate(), Gate())
        let server = try Self.server(gate, arrived)
        weak var stack: Stack?
        weak var session: URLSession?
        let outcome = Lock<Fetched?>(nil)
        try {
            let network = try Stack(configuration: .init())
            (stack, session) = (network, network.session)
            network.fetch(resource: try .url(server.url("/start"))) { result in outcome.withLock { $0 = result } }
        }()
        #expect(stack == nil)
        try await arrived.opened()
        #expect(session != nil)
        gate.open()
        #expect(try await eventually { outcome.withLock { $0 } != nil })
        #expect(outcome.withLock { $0 }?.summary == "success done")
        #expect(try await eventually { session == nil })
        try await server.waitUntil { $0.connections.allSatisfy { $0.state != .open } }
    }

    @Test("shutdown ends running and waiting fetches, and finishes with the session", arguments: [false, true])
    func shuttingDown(isInjected: Bool) async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        var configuration = Network.Configuration()
        configuration.connections.perHost = 2
        let network = isInjected ? Stack.injected() : try Stack(configuration: configuration)
        let outcomes = Lock<[String]>([])
        for _ in 1...300 {
            network.fetch(resource: try .url(server.url())) { result in outcomes.withLock { $0.append(result.summary) }
            }
        }
        let places = isInjected ? 6 : 2
        try await server.waitUntil { $0.requests.count == places }
        async let first: Void = network.shutdown()
        async let second: Void = network.shutdown()
        _ = await (first, second)
        #expect(try await eventually { outcomes.withLock { $0.count } == 300 })
        #expect(outcomes.withLock { $0 } == Array(repeating: "shut down", count: 300))
        #expect(await network.outcome(of: try .url(server.url())).summary == "shut down")
        try await server.waitUntil { $0.connections.allSatisfy { $0.state != .open } }
        network.finishFetchesAndInvalidateSession()
        #expect(server.snapshot.accepted == places, "a waiting fetch has replaced one that ended")
    }

    @Test("shutdown beside starting fetches ends each, and makes no task of an ended session")
    func shuttingDownBesideBeginnings() async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        for _ in 1...200 {
            let network = try Stack(configuration: .init())
            let ended = Lock(0)
            async let beginnings: Void = Self.onAThread {
                for _ in 1...20 {
                    guard let resource = try? Stack.Resource.url(server.url()) else { continue }
                    network.fetch(resource: resource) { _ in ended.withLock { $0 += 1 } }
                }
            }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...400)))
            await network.shutdown()
            await beginnings
            #expect(try await eventually { ended.withLock { $0 } == 20 })
        }
        try await server.waitUntil { $0.connections.allSatisfy { $0.state != .open } }
    }

    @Test("shutdown ends fetches that began before the stack got its session", .timeLimit(.minutes(1)))
    func shuttingDownWhatBeganBefore() async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        let network = Stack()
        let isMade = Gate()
        let request = try HTTP.Request(url: server.url())
        let outcome = Lock<String?>(nil)
        network.fetch(
            resource: .init(
                baseRequestMaking: .task {
                    try await isMade.opened()
                    return try URLRequest(request)
                }
            )
        ) { result in outcome.withLock { $0 = result.summary } }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Extra": "y"]
        network.session = URLSession(configuration: configuration, delegate: network, delegateQueue: nil)
        isMade.open()
        try await server.waitUntil { $0.requests.count == 1 }
        await network.shutdown()
        #expect(try await eventually { outcome.withLock { $0 } != nil })
        #expect(outcome.withLock { $0 } == "shut down")
    }

    private static func onAThread(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                work()
                continuation.resume()
            }
        }
    }

    @Test("shutdown ends requests in the making, whether the stack was to finish or not", arguments: [false, true])
    func shuttingDownUnsent(finishesFirst: Bool) async throws {
        let network = try Stack(configuration: .init())
        let outcomes = Lock<[String]>([])
        let neverMade = Network.URLSessionResource(baseRequestMaking: .init { _ in CancelableBag() })
        network.fetch(resource: neverMade) { result in outcomes.withLock { $0.append(result.summary) } }
        if finishesFirst { network.finishFetchesAndInvalidateSession() }
        await network.shutdown()
        network.fetch(resource: neverMade) { result in outcomes.withLock { $0.append(result.summary) } }
        #expect(try await eventually { outcomes.withLock { $0.count } == 2 })
        #expect(outcomes.withLock { $0 } == ["shut down", "shut down"])
    }

    @Test("shutdown with a limit waits for running fetches", .timeLimit(.minutes(1)))
    func shuttingDownAfterAWhile() async throws {
        let (isThere, mayAnswer) = (Gate(), Gate())
        let server = try ScriptedServer { _ in
            [
                .receiveHead, .open(isThere), .wait(for: mayAnswer),
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForClose,
            ]
        }
        let network = try Stack(configuration: .init())
        let (outcome, isShutDown) = (Task { await network.outcome(of: try .url(server.url())).summary }, Lock(false))
        try await isThere.opened()
        let ending = Task {
            await network.shutdown(after: .seconds(50))
            isShutDown.withLock { $0 = true }
        }
        // None is sent.
        while await network.outcome(of: .init(baseRequestMaking: .task { throw CancellationError() })).summary
            != "shut down"
        {}
        #expect(!isShutDown.withLock { $0 })
        mayAnswer.open()
        #expect(try await outcome.value == "success ok")
        await ending.value
    }

    @Test("A fetch after the session was invalidated elsewhere is refused")
    func invalidated() async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let network = Stack.injected()
        #expect(await network.outcome(of: try .url(server.url())).summary == "success x")
        network.session?.finishTasksAndInvalidate()
        #expect(try await eventually { network.session?.delegate == nil })
        #expect(await network.outcome(of: try .url(server.url())).summary == "shut down")
    }

    @Test("Other tasks on an injected session run unchanged")
    func foreignTasks() async throws {
        let server = try ScriptedServer.responding { $0.path == "/" ? .redirect(to: "/end") : .ok("end") }
        let network = Stack.injected()
        let url = try URLText.parse(server.url())
        let (data, _) = try #require(try await network.session?.data(from: url))
        #expect(data == Data("end".utf8))
        network.finishFetchesAndInvalidateSession()
    }

    @Test("A stack dropped after a storm of cancels frees its session", arguments: [0, 1_000, 20_000])
    func storm(microseconds: Int) async throws {
        let server = try ScriptedServer.responding { $0.path == "/" ? .redirect(to: "/end") : .ok("x") }
        weak var session: URLSession?
        do {
            let network = try Stack(configuration: .init())
            session = network.session
            await withTaskGroup { group in
                for _ in 0..<200 {
                    let done = Gate()
                    guard let resource = try? Stack.Resource.url(server.url()) else { continue }
                    let fetching = network.fetch(resource: resource) { _ in done.open() }
                    group.addTask {
                        try? await Task.sleep(for: .microseconds(Int.random(in: 0...microseconds)))
                        fetching.cancel()
                        try? await done.opened()
                    }
                }
            }
        }
        #expect(try await eventually { session == nil })
    }

    @Test("Released stacks leave no descriptor and no thread behind")
    func flat() async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        func use() async throws {
            let network = try Stack(configuration: .init())
            for _ in 1...3 { _ = try await network.fetch(resource: .url(server.url())) }
        }
        for _ in 1...5 { try await use() }
        try await server.waitUntil { $0.connections.allSatisfy { $0.state != .open } }
        let before = ProcessProbe.openFileDescriptors()
        for _ in 1...40 { try await use() }
        try await server.waitUntil { $0.connections.allSatisfy { $0.state != .open } }
        #expect(try await eventually { ProcessProbe.openFileDescriptors() <= before + 8 })
    }
}
