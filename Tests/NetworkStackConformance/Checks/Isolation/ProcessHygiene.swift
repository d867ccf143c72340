import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The effects of a stack on its process and on other programs.
    static let processHygiene: [ConformanceCheck] = inheritance + fileModes

    private static let halfAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"

    private static let inheritance: [ConformanceCheck] = [
        ConformanceCheck(
            "A child process inherits no descriptor of a fetch over TCP",
            needs: [.network, .closesOnExec]
        ) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .send(halfAnswer), .waitForClose] }
            try await expectNothingInherited {
                let fetch = try subject.stack().observe(server.url())
                try await server.sees("a request") { $0.requests.count == 1 }
                return [fetch]
            }
        },
        ConformanceCheck(
            "A child process inherits no descriptor of a fetch over TLS",
            needs: [.network, .closesOnExec, .customTrustRoots]
        ) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer(.init(tls: certificates.server)) { _ in
                [.receiveHead, .send(halfAnswer), .waitForClose]
            }
            try await expectNothingInherited {
                let stack = try subject.stack { $0.tls.trustRoots = .file(path: certificates.caFile) }
                let fetch = try stack.observe(server.url())
                try await server.sees("a request") { $0.requests.count == 1 }
                return [fetch]
            }
        },
        ConformanceCheck(
            "A child process inherits no descriptor of a Unix socket fetch",
            needs: [.network, .unixSockets]
        ) { subject in
            let folder = try TemporaryDirectory("socket")
            var options = ScriptedServer.Options()
            options.loopback = .path(folder.file("s"))
            let server = try ScriptedServer(options) { _ in [.receiveHead, .send(halfAnswer), .waitForClose] }
            try await expectNothingInherited {
                let stack = try subject.stack { $0.addresses.unixSocket = .path(folder.file("s")) }
                let fetch = try stack.observe(server.url())
                try await server.sees("a request") { $0.requests.count == 1 }
                return [fetch]
            }
        },
        ConformanceCheck(
            "A child process inherits no descriptor of closed unused connections",
            needs: [.network, .idleConnectionAge]
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let stack = try subject.stack { $0.connections.idleAge = .seconds(1) }
            try await expectNothingInherited {
                for round in 1...2 {
                    try await stack.text(server.url())
                    try await server.sees("the close") { $0.accepted == round && $0.open == 0 }
                }
                return []
            }
            withExtendedLifetime(stack) {}
        },
        ConformanceCheck(
            "A child process inherits no descriptor of a name lookup",
            needs: [.network, .heldLookups, .closesOnExec]
        ) { subject in
            let lookups = try HeldLookups()
            let before = try await ChildDescriptors.seen()
            let fetch = try subject.stack().observe("http://\(lookups.name)/")
            try await eventually("a lookup") { lookups.hasBegun }
            var more = try await ChildDescriptors.seen().subtracting(before)
            // The lookup begins on another thread, before libcurl reports its descriptors to the stack.
            for _ in 1...20 where !more.isEmpty {
                try await Task.sleep(for: .milliseconds(50))
                more = try await ChildDescriptors.seen().subtracting(before)
            }
            try expect(more.isEmpty, "A child process inherits \(more.sorted())")
            fetch.cancel()
        },
        ConformanceCheck("A child process inherits no file that is sent", needs: [.network]) { subject in
            let folder = try TemporaryDirectory("sent")
            let file = folder.file("content")
            try patternBytes(32 << 20).write(to: URL(filePath: file))
            let server = try ScriptedServer { _ in [.receiveHead, .pause(.seconds(20))] }
            let paths = try await inherited {
                let fetch = try subject.stack().observe(server.url(), method: .PUT, body: .file(path: file))
                try await server.sees("a request") { $0.requests.count == 1 }
                return [fetch]
            }
            try expect(!paths.contains { $0.hasPrefix("/") }, "A child process inherits \(paths)")
        },
        ConformanceCheck("A child process inherits no file of a spooled upload", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .pause(.seconds(20))] }
            let (held, continuation) = AsyncStream.makeStream(of: Data.self)
            continuation.yield(patternBytes(3 << 20))
            let before = spools()
            let paths = try await inherited {
                let body = HTTP.Body.stream(.init(held, length: 4 << 20))
                let fetch = try subject.stack().observe(server.url(), method: .PUT, body: body)
                try await eventually("the body is spooled or sent") {
                    !spools().subtracting(before).isEmpty || !server.requests.isEmpty
                }
                let modes = spools().subtracting(before).compactMap(mode)
                try expect(modes.allSatisfy { $0 == 0o600 }, "The modes of spools are \(modes)")
                return [fetch]
            }
            try expect(!paths.contains { $0.hasPrefix("/") }, "A child process inherits \(paths)")
            continuation.finish()
        },
        ConformanceCheck("A child process inherits no file of a download", needs: [.network, .backPressure]) {
            subject in
            let server = try ScriptedServer { _ in [.receiveHead, .send(halfAnswer), .waitForClose] }
            let folder = try TemporaryDirectory("download")
            let place = folder.file("content")
            try Data().write(to: URL(filePath: place))
            chmod(place, 0o600)
            let before = try await ChildDescriptors.seen()
            let stack = try subject.makeDownloading(Network.Configuration()) { _ in place }
            let download = try await stack.fetch(resource: .get(server.url())).value
            try await eventually("the download has begun") { download.writtenLength > 0 }
            let paths = try await ChildDescriptors.seen().subtracting(before)
            try expect(!paths.contains { $0.hasPrefix("/") }, "A child process inherits \(paths)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.file(""))
            let partial = names.filter { $0 != "content" }
            try expectEqual(partial.map { mode(of: folder.file($0)) }, [0o600], "the modes of \(partial)")
            download.cancel()
        },
    ]

    private static let fileModes: [ConformanceCheck] = [
        ConformanceCheck("Only the owner can read files of cookies and HSTS hosts") { _ in
            let folder = try TemporaryDirectory("saved")
            try HTTP.CookieJar().save(to: folder.file("cookies"))
            try HTTP.StrictTransportHosts().save(to: folder.file("hosts"))
            for name in ["cookies", "hosts"] {
                try expectEqual(mode(of: folder.file(name)), 0o600, "the mode of a file of \(name)")
            }
        }
    ]

    /// The existing spools of uploads.
    private static func spools() -> Set<String> {
        let folder = FileManager.default.temporaryDirectory.path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Set(names.filter { $0.hasPrefix("network-stack-") }.map { "\(folder)/\($0)" })
    }

    /// The descriptors that a child process inherits during fetches, and not before. The fetches are cancelled then.
    private static func inherited(_ begin: () async throws -> [Observation]) async throws -> Set<String> {
        let before = try await ChildDescriptors.seen()
        let fetches = try await begin()
        let after = try await ChildDescriptors.seen()
        for fetch in fetches { fetch.cancel() }
        return after.subtracting(before)
    }

    private static func expectNothingInherited(_ begin: () async throws -> [Observation]) async throws {
        let descriptors = try await inherited(begin)
        try expect(descriptors.isEmpty, "A child process inherits \(descriptors.sorted())")
    }
}
