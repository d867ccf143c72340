import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("A session that a URLSession stack is given late", .timeLimit(.minutes(1)))
struct LateSessionTests {
    private static func session(of network: Stack, hasHeaders: Bool) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        if hasHeaders { configuration.httpAdditionalHeaders = ["X-Extra": "y"] }
        return URLSession(configuration: configuration, delegate: network, delegateQueue: nil)
    }

    /// Begins a fetch whose request is made when the gate opens.
    private static func fetch(_ url: String, on network: Stack, after isMade: Gate, _ outcome: Lock<String?>) throws {
        let request = try HTTP.Request(url: url)
        let making: @Sendable () async throws -> URLRequest = {
            try await isMade.opened()
            return try URLRequest(request)
        }
        network.fetch(resource: .init(baseRequestMaking: .task(making))) { result in
            outcome.withLock { $0 = result.summary }
        }
    }

    @Test("A session that is set after the end is invalidated, and carries no fetch", arguments: [false, true])
    func settingAfterTheEnd(hasHeaders: Bool) async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        weak var stack: Stack?
        do {
            let network = Stack()
            stack = network
            network.finishFetchesAndInvalidateSession()
            network.session = Self.session(of: network, hasHeaders: hasHeaders)
            #expect(await network.outcome(of: try .url(server.url())).summary == "shut down")
        }
        #expect(try await eventually { stack == nil })
        #expect(server.requests.isEmpty)
    }

    @Test("A fetch that began before the end uses the session that is set after it", arguments: [false, true])
    func fetchBeforeTheEnd(hasHeaders: Bool) async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let isMade = Gate()
        let outcome = Lock<String?>(nil)
        weak var stack: Stack?
        do {
            let network = Stack()
            stack = network
            try Self.fetch(server.url(), on: network, after: isMade, outcome)
            network.finishFetchesAndInvalidateSession()
            network.session = Self.session(of: network, hasHeaders: hasHeaders)
        }
        isMade.open()
        #expect(try await eventually { outcome.withLock { $0 } == "success x" })
        #expect(try await eventually { stack == nil })
    }

    @Test("The gauges count the fetches that began before the session was set, and their bytes")
    func gaugesOfBoth() async throws {
        let held = Gate()
        let server = try ScriptedServer.responding { _ in
            .steps([.wait(for: held), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour")])
        }
        let network = Stack()
        let isMade = Gate()
        let outcome = Lock<String?>(nil)
        try Self.fetch(server.url(), on: network, after: isMade, outcome)
        network.session = Self.session(of: network, hasHeaders: true)
        isMade.open()
        try await server.waitUntil { $0.requests.count == 1 }
        #expect(await network.gauges.fetches == 1)
        held.open()
        #expect(try await eventually { outcome.withLock { $0 } == "success four" })
        #expect(await network.gauges.bytesReceived == 4)
        await network.shutdown()
        #expect(await network.gauges.bytesReceived == 4)
    }
}
