import CurlStack
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("A scripted server")
struct ScriptedServerTests {
    @Test("checks a condition on the caller's actor", .timeLimit(.minutes(1)))
    @MainActor
    func waiting() async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let url = server.url()
        let fetching = Task { try await Network.CurlNetworkStack().data(for: .get(url)).0.count }
        var counts: [Int] = []
        try await server.waitUntil { snapshot in
            MainActor.assertIsolated()
            counts.append(snapshot.requests.count)
            return snapshot.requests.count == 1
        }
        #expect(counts.last == 1)
        #expect(try await fetching.value == 1)
    }

    /// In a separate process, which a time that no number holds would end.
    @Test("waits for any time")
    func longPatience() async {
        await #expect(processExitsWith: .success) {
            var options = ScriptedServer.Options()
            options.patience = .seconds(Int64.max)
            let server = try ScriptedServer(options) { _ in [.receiveHead, .send("HTTP/1.1 204 No Content\r\n\r\n")] }
            _ = try await Network.CurlNetworkStack().data(for: .get(server.url()))
        }
    }
}
