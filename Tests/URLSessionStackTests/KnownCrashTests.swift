import CurlStack
import Foundation
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

/// Replies that crash the process through URLSession, whatever the stack above does. Each test fails when the defect is fixed:
/// then the documentation and the capabilities of the stack have to change.
@Suite("Known crashes of URLSession", .timeLimit(.minutes(1)))
struct KnownCrashTests {
    private static func fetch(_ reply: String) async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .send(reply), .close] }
        _ = await (try Stack(configuration: .init())).outcome(of: try .url(server.url()))
    }

    @Test("Trailers crash the process (swift-corelibs-foundation #5285)")
    func trailers() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Self.fetch(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Trailer: 1\r\n\r\n"
            )
        }
        #expect(result.printsOnExit("Transfer completed, but there's no response"))
    }

    @Test("A connection that ends within a head crashes the process (swift-corelibs-foundation #5285)")
    func cutHead() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Self.fetch("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")
        }
        #expect(result.printsOnExit("Transfer completed, but there's no response"))
    }

    @Test(
        "A header line that begins with NUL crashes the process, though the head is whole",
        .enabled(if: CurlLibrary.shared.versionNumber < 0x080E00, "libcurl 8.14 refuses such a head.")
    )
    func nul() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Self.fetch("HTTP/1.1 200 OK\r\n\0X-Nul: 1\r\nContent-Length: 2\r\n\r\nok")
        }
        #expect(result.printsOnExit("Transfer completed, but there's no response"))
    }

    @Test("An unfollowed redirect that URLSession cannot compose crashes the process")
    func redirect() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Self.fetch("HTTP/1.1 302 Found\r\nLocation: //[::1]/\r\nContent-Length: 0\r\n\r\n")
        }
        #expect(result.printsOnExit("Invalid URL"))
    }

    @Test(
        "A Content-Length that rounds up to 2^63 crashes the process",
        arguments: ["200 OK", "302 Found\r\nLocation: /"]
    )
    func length(status: String) async {
        let result = await #expect(processExitsWith: .failure) { [status] in
            try await Self.fetch("HTTP/1.1 \(status)\r\nContent-Length: 9223372036854775807\r\n\r\nhello")
        }
        guard case .signal = result?.exitStatus else {
            Issue.record("The process ended with \(String(describing: result))")
            return
        }
    }
}
