import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("A session that a URLSession stack is given late", .timeLimit(.minutes(1)))
struct LateSessionTests {
    @Test("The gauges count the fetches that began before the session was set, and their bytes")
    func gaugesOfBoth() async throws {
        let held = Gate()
        let server = try ScriptedServer.responding { _ in
            .steps([.wait(for: held), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour")])
        }
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
        #expect(await network.gauges.fetches == 1)
        held.open()
        #expect(try await eventually { outcome.withLock { $0 } == "success four" })
        #expect(await network.gauges.bytesReceived == 4)
        await network.shutdown()
        #expect(await network.gauges.bytesReceived == 4)
    }
}
