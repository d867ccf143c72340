import Glibc
import NetworkStackTesting
import Testing

@testable import CurlStack

@Suite("The watch of a FloodGuard", .timeLimit(.minutes(1)))
struct FloodWatchTests {
    @Test("looks no more when the last connection was closed within a call")
    func closedWithinACall() async throws {
        let floods = FloodGuard()
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        floods.opened(descriptor)
        #expect(floods.isLooking)
        _ = floods.closed(descriptor)
        close(descriptor)
        floods.end()
        while floods.isLooking { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test("counts body bytes within a call alone")
    func outsideACall() async throws {
        let floods = FloodGuard()
        floods.opened(1 << 30)
        floods.end()
        while floods.isLooking { try await Task.sleep(for: .milliseconds(5)) }
        floods.renew()
        #expect(!floods.isLooking)
    }
}
