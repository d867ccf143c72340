import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("A chunked body", .timeLimit(.minutes(1)))
struct ChunkTests {
    @Test(
        "with illegal framing is reported as malformed",
        arguments: [
            "0x5\r\nhello\r\n0\r\n\r\n", "x5\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n",
            "5\r\nhelloX\r\n0\r\n\r\n", "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
            "5\r\nhello\r\n0\r\nno trailer\r\n\r\n",
        ]
    )
    func malformed(content: String) async throws {
        let server = try ScriptedServer { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + content), .waitForClose]
        }
        let stack = try Network.CurlNetworkStack()
        let resource = try get(server.url())
        do throws(Network.CurlFetchError) {
            let fetched = try await stack.fetch(resource: resource)
            Issue.record("a success with \(fetched.value.count) bytes")
        } catch {
            guard case .transport(let failure, _) = error else {
                Issue.record("saw \(error)")
                return
            }
            #expect(failure.kind == .malformed)
        }
    }
}
