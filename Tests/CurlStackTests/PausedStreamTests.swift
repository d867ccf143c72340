import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("Streams that are cancelled while they are paused", .serialized, .timeLimit(.minutes(1)))
struct PausedStreamTests {
    /// libcurl 7.88 forgets what it holds of a stream that leaves a connection which others still use.
    @Test("leave nothing behind on a shared HTTP/2 connection")
    func shared() async throws {
        await #expect(processExitsWith: .success) {
            let nghttpd = try NghttpdServer(.init())
            try await nghttpd.start()
            var configuration = Network.Configuration()
            configuration.tls.trustRoots = .file(path: try TestCertificates.shared().caFile)
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            let request = try HTTP.Request(url: nghttpd.url("/bytes/1m"))
            let resource = Network.CurlResource(baseRequestMaking: .request(request))
            // Keeps the connection in use.
            let other = try await stack.streaming.fetch(resource: resource).value
            var before = 0
            for number in 0..<1000 {
                if number == 100 { before = ProcessProbe.residentBytes() }
                let stream = try await stack.streaming.fetch(resource: resource).value
                var pieces = stream.makeAsyncIterator()
                _ = try await pieces.next()
                try await Task.sleep(for: .milliseconds(8))
            }
            let growth = ProcessProbe.residentBytes() - before
            withExtendedLifetime(other) {}
            try #require(before > 0 && growth < 5 << 20, "Memory grew by \(growth) bytes")
        }
    }
}
