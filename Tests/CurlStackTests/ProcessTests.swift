import CurlStack
import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("CurlStack in its process", .serialized)
struct ProcessTests {
    @Test("a process may exit while transfers run", .timeLimit(.minutes(1)))
    func exitDuringTraffic() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let identity = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: identity.server)) { _ in
                .ok(bytes: Array(repeating: 65, count: 100_000))
            }
            var configuration = Network.Configuration()
            configuration.tls.trustRoots = .file(path: identity.caFile)
            let stack = try Network.CurlNetworkStack(configuration: configuration)
            let request = try HTTP.Request(url: server.url("/", host: "localhost"))
            let landed = Gate()
            for _ in 0..<200 {
                stack.fetch(resource: .init(baseRequestMaking: .request(request))) { _ in landed.open() }
            }
            try await landed.opened()
            exit(7)
        }
    }

    /// Needs root: one thread gets a resolver of its own, by a mount only it and its children see.
    @Test("a name lookup that hangs delays neither another transfer nor a cancel", .timeLimit(.minutes(1)))
    func hangingLookup() async throws {
        try await #require(processExitsWith: .success) {
            try SilentResolver.install()
            let server = try ScriptedServer.responding { _ in .ok("hello") }
            let stack = try Network.CurlNetworkStack()
            let hanging = try HTTP.Request(url: "http://hanging.test/")
            let local = try HTTP.Request(url: server.url("/"))
            let clock = ContinuousClock()
            let cancelled = Gate()
            let fetches = (0..<3).map { _ in
                stack.fetch(resource: .init(baseRequestMaking: .request(hanging))) { result in
                    if case .failure(.cancelled) = result { cancelled.open() }
                }
            }
            _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(local)))
            let began = clock.now
            for fetch in fetches { fetch.cancel() }
            try await cancelled.opened()
            for _ in 0..<20 { _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(local))) }
            // The lookup itself takes five seconds at least before the resolver tries again.
            guard clock.now - began < .seconds(3) else {
                throw SilentResolver.Failure(what: "a lookup held the loop up")
            }

            var options = HTTP.Options()
            options.timeouts.connect = .milliseconds(300)
            do {
                _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(hanging), options: options))
                throw SilentResolver.Failure(what: "the lookup succeeded")
            } catch let error as Network.CurlFetchError {
                guard case .refused(.timedOut(.connect, during: .resolving)) = error else { throw error }
            }
            await stack.shutdown()
        }
    }
}

/// A name server that never answers, for this process alone.
private enum SilentResolver {
    struct Failure: Error {
        let what: String
    }

    /// Gives the calling thread, and those it starts, a file system view of their own (Swift's Glibc does not name it).
    private static func unshareMounts() -> Bool {
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else { return false }
        return unsafeBitCast(symbol, to: Unshare.self)(0x20000) == 0
    }

    static func install() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(53).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.153")
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0 else { throw Failure(what: "port 53 of 127.0.0.153 cannot be had; the test needs root") }
        let file = FileManager.default.temporaryDirectory.appending(path: "silent-resolver-\(getpid())")
        try Data("nameserver 127.0.0.153\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        // A process that is all one user's may give itself a file system of its own.
        guard unshareMounts(), mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0,
            mount(file.path, "/etc/resolv.conf", nil, UInt(MS_BIND), nil) == 0
        else { throw Failure(what: "the process cannot have a resolver of its own; the test needs root") }
    }
}
