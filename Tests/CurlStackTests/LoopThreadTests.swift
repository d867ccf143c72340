import CurlStack
import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackConformance
import NetworkStackTesting
import Testing

/// The effects of a loop's thread on the process, and the calls that wait for it.
@Suite("CurlStack's thread", .serialized, .timeLimit(.minutes(1)))
struct LoopThreadTests {
    @Test("a loop's thread blocks all signals")
    func signals() async throws {
        let before = try Self.masks()
        let server = try ScriptedServer.responding { _ in .ok("done") }
        let stack = try Network.CurlNetworkStack()
        _ = try await stack.fetch(resource: get(server.url()))
        // Signals 32 and 33 are the C library's own; 9 and 19 cannot be blocked.
        let all = UInt64.max & ~(1 << 8 | 1 << 18 | 1 << 31 | 1 << 32)
        func blocking() throws -> Set<String> {
            Set(try Self.masks().filter { before[$0.key] == nil && $0.value & all == all }.keys)
        }
        // A thread that is starting blocks them, too, for a moment.
        var always = try blocking()
        let deadline = ContinuousClock.now + .seconds(10)
        repeat {
            try await Task.sleep(for: .milliseconds(20))
            always.formIntersection(try blocking())
        } while always.count > 1 && .now < deadline
        #expect(always.count == 1)
        await stack.shutdown()
    }

    @Test("the shared stack serves a fetch")
    func shared() async throws {
        let server = try ScriptedServer.responding { _ in .json("[1,2]") }
        #expect(try await Network.CurlNetworkStack.shared.get(server.url(), as: [Int].self) == [1, 2])
    }

    @Test("a stack that cannot be made fails each fetch with the reason")
    func refusing() async throws {
        var configuration = Network.Configuration()
        configuration.connections.perHost = 0
        let stack = Network.CurlNetworkStack(orRefusing: configuration)
        for _ in 0..<2 {
            await #expect {
                try await stack.send(.get("http://127.0.0.1:9/"))
            } throws: { error in
                guard case .invalidRequest? = error as? Network.CurlFetchError else { return false }
                return true
            }
        }
        #expect(await stack.gauges.total == .init())
        await stack.shutdown()
        await #expect(throws: Network.CurlFetchError.self) { try await stack.send(.get("http://127.0.0.1:9/")) }
    }

    @Test("a loop's thread leaves no stack mapped when it has ended")
    func stackIsUnmapped() async throws {
        func mapped() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmSize:") })
            return Int(line.filter(\.isNumber)) ?? 0
        }
        for _ in 0..<8 { await (try Network.CurlNetworkStack()).shutdown() }
        let before = try mapped()
        for _ in 0..<400 { await (try Network.CurlNetworkStack()).shutdown() }
        // The C library may map 64 MiB for each of a few allocators. 400 stacks of 8 MiB would be 3200 MiB, in KiB here.
        let after = try mapped()
        #expect(after - before < 2048 << 10, "Mapped stacks grew from \(before) KiB to \(after) KiB")
    }

    @Test("a cancelled upload that waits for 100 Continue releases its body at once")
    func cancelledQuestion() async throws {
        let (isAsked, isReleased) = (Gate(), Gate())
        let server = try ScriptedServer { _ in [.receiveHead, .open(isAsked), .waitForClose] }
        var configuration = Network.Configuration()
        configuration.options.expectContinue = .seconds(60)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let url = server.url()
        let fetch = Task {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 8)
            bytes.initializeMemory(as: UInt8.self, repeating: 1, count: 4096)
            let body = Data(
                bytesNoCopy: bytes,
                count: 4096,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    isReleased.open()
                }
            )
            let request = try HTTP.Request(method: .POST, url: url, body: .bytes(body))
            _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
        }
        try await isAsked.opened()
        fetch.cancel()
        _ = await fetch.result
        try await isReleased.opened()
        await stack.shutdown()
    }

    @Test("a question about connections is answered while the stack is shut down")
    func questions() async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        for _ in 0..<20 {
            let stack = try Network.CurlNetworkStack()
            let url = server.url()
            let fetch = Task { try await stack.fetch(resource: get(url)) }
            let answered = Gate()
            let awaiting100Continue = Task {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<8 {
                        group.addTask {
                            if number == 4 { await stack.shutdown() }
                            for _ in 0..<20 { _ = await stack.gauges }
                        }
                    }
                }
                answered.open()
            }
            try await answered.opened(within: .seconds(20))
            await awaiting100Continue.value
            _ = await fetch.result
        }
    }

    @Test("a preconnection ends by the idle timeout if no other is set")
    func preconnection() async throws {
        var options = ScriptedServer.Options(tls: try TestCertificates.shared().server)
        options.answersHandshake = false
        let silent = try ScriptedServer(options) { _ in [] }
        var configuration = Network.Configuration()
        configuration.options.timeouts.idle = .milliseconds(400)
        let stack = try Network.CurlNetworkStack(configuration: configuration)
        let origin = try HTTP.Origin(of: HTTP.Request(url: silent.url()).url)
        try await ConformanceCheck.expectInProportion(to: .milliseconds(400)) {
            let start = ContinuousClock.now
            await #expect(throws: Network.CurlFetchError.self) { try await stack.preconnect(to: origin) }
            return .now - start
        }
    }

    /// The signals that each thread of the process blocks, as the kernel has them.
    private static func masks() throws -> [String: UInt64] {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        var masks: [String: UInt64] = [:]
        for thread in threads {
            guard let file = fopen("/proc/self/task/\(thread)/status", "re") else { continue }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 8192)
            let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
            masks[thread] = line.flatMap { UInt64($0.dropFirst(7).filter { !$0.isWhitespace }, radix: 16) }
        }
        return masks
    }
}
