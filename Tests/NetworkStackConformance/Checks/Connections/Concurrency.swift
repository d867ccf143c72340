import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Many fetches at once: limits, order, fairness, and the right response for each request.
    static let concurrency: [ConformanceCheck] = together + limited + lookingUp

    private static let together: [ConformanceCheck] = [
        ConformanceCheck("One resource can be fetched fifty times at once") { subject in
            let peer = try subject.serve { .ok("for \($0.path)") }
            let (stack, resource) = (try subject.stack(), try ConformanceSubject.Stack.Resource.get(peer.url("/same")))
            let observations = (1...50).map { _ in stack.observe(resource) }
            for observation in observations {
                try expectEqual(try await observation.onlyOutcome().text(), "for /same", "the body")
            }
            try expectEqual(peer.requests().count, 50, "requests")
        },
        ConformanceCheck("Each of a hundred parallel fetches gets its response") { subject in
            let peer = try subject.serve { .ok($0.path + String(repeating: $0.path, count: 2000)) }
            let stack = try subject.stack()
            let observations = try (0..<100).map { (path: "/\($0)/", fetch: try stack.observe(peer.url("/\($0)/"))) }
            for (path, observation) in observations {
                let expected = path + String(repeating: path, count: 2000)
                try expect(try await observation.onlyOutcome().text() == expected, "\(path) got another response")
            }
            try expectEqual(Set(peer.requests().map(\.path)), Set(observations.map(\.path)), "the requested paths")
            try expectEqual(peer.requests().count, 100, "requests")
        },
        ConformanceCheck("Each of a hundred parallel uploads arrives whole on its request") { subject in
            let peer = try subject.serve { .ok($0.text) }
            let stack = try subject.stack()
            let observations = try (0..<100).map { number in
                let body = String(repeating: "\(number).", count: 3000)
                return (body, try stack.observe(peer.url("/"), method: .POST, body: .bytes(Data(body.utf8))))
            }
            for (body, observation) in observations {
                try expect(try await observation.onlyOutcome().text() == body, "The response has another upload's body")
            }
        },
        ConformanceCheck("A maker may fetch on the same stack over one connection") { subject in
            let peer = try subject.serve { .ok("token for \($0.path)") }
            let stack = try subject.stack { $0.connections.perHost = 1 }
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .task {
                    let token = try await stack.fetch(resource: .get(peer.url("/token")))
                    let value = String(decoding: token.value, as: UTF8.self)
                    return try HTTP.Request(url: peer.url("/data"), headers: ["X-Token": value])
                }
            )
            let observations = (1...10).map { _ in stack.observe(resource) }
            for observation in observations {
                try expectEqual(try await observation.onlyOutcome().text(), "token for /data", "the body")
            }
            let tokens = peer.requests().filter { $0.path == "/data" }.compactMap { $0["x-token"] }
            try expectEqual(tokens, Array(repeating: "token for /token", count: 10), "the tokens")
        },
        ConformanceCheck("A host with all connections stuck delays no other host") { subject in
            let (stuck, held) = try subject.serveLate()
            defer { held.open() }
            let other = try subject.serve { .ok($0.path) }
            let stack = try subject.stack { $0.connections.perHost = 2 }
            let waiting = try (1...8).map { try stack.observe(stuck.url("/\($0)")) }
            try await eventually("the stuck host has requests") { stuck.requests().count >= 2 }
            for number in 1...20 {
                let text = try await stack.text(other.url("/\(number)"), within: .seconds(10))
                try expectEqual(text, "/\(number)", "the other host")
            }
            try expect(waiting.allSatisfy { !$0.isCompleted }, "A fetch from the stuck host has completed")
            held.open()
            for observation in waiting {
                try expectEqual(try await observation.onlyOutcome().text(), "late", "at the end")
            }
        },
    ]

    private static let limited: [ConformanceCheck] = [
        ConformanceCheck("Fetches to one host are sent in calling order", needs: [.network]) { subject in
            let bottleneck = try await Bottleneck(subject)
            defer { bottleneck.open() }
            let (server, stack, first) = (bottleneck.server, bottleneck.stack, bottleneck.first)
            let paths = (1...30).map { "/\($0)" }
            let queued = try paths.map { try stack.observe(server.url($0)) }
            bottleneck.open()
            for observation in [first] + queued { _ = try await observation.onlyOutcome().text() }
            try expectEqual(server.requests.map(\.path), ["/held"] + paths, "the order of arrival")
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("The limit per host is respected and fully used", needs: [.network]) { subject in
            let (held, tally) = (Latch(), Tally())
            let server = try ScriptedServer.responding { request in
                tally.enter()
                defer { tally.leave() }
                held.wait()
                return .ok(request.path)
            }
            defer { held.open() }
            let stack = try subject.stack { $0.connections.perHost = 4 }
            let observations = try (1...16).map { try stack.observe(server.url("/\($0)")) }
            try await eventually("four requests are under way") { tally.current == 4 }
            held.open()
            for observation in observations { _ = try await observation.onlyOutcome().text() }
            try expectEqual(tally.most, 4, "the most requests at a time")
            try expect(server.snapshot.maxOpen <= 4, "\(server.snapshot.maxOpen) connections were open at a time")
            try expectEqual(server.requests.count, 16, "requests")
        },
        ConformanceCheck("Fetches limited to HTTP/1.1 and others share the limit per host", needs: [.network]) {
            subject in
            let held = Latch()
            let server = try ScriptedServer.responding { request in
                held.wait()
                return .ok(request.path)
            }
            defer { held.open() }
            let stack = try subject.stack { $0.connections.perHost = 1 }
            var options = HTTP.Options()
            options.version = .http1_1
            let first = try stack.observe(server.url("/1"))
            try await eventually("the first is under way") { server.requests.count == 1 }
            let second = try stack.observe(server.url("/2"), options: options)
            let third = try stack.observe(server.url("/3"))
            held.open()
            for observation in [first, second, third] { _ = try await observation.onlyOutcome().text() }
            try expectEqual(server.snapshot.maxOpen, 1, "connections at a time")
        },
        ConformanceCheck(
            "The limit per host holds over TLS before and after ALPN",
            needs: [.network, .customTrustRoots]
        ) { subject in
            let (held, tally) = (Latch(), Tally())
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { request in
                tally.enter()
                defer { tally.leave() }
                held.wait()
                return .ok(request.path)
            }
            defer { held.open() }
            let stack = try subject.stack {
                $0.connections.perHost = 20
                $0.tls.trustRoots = .file(path: certificates.caFile)
            }
            let observations = try (1...60).map { try stack.observe(server.url("/\($0)")) }
            try await eventually("twenty requests are under way") { tally.current == 20 }
            held.open()
            for observation in observations { _ = try await observation.onlyOutcome().text() }
            try expectEqual(tally.most, 20, "the most requests at a time")
            try expect(server.snapshot.maxOpen <= 20, "\(server.snapshot.maxOpen) connections were open at a time")
            try expectEqual(server.requests.count, 60, "requests")
        },
        ConformanceCheck(
            "Fetches that wait for a failed handshake connect anew",
            needs: [.network, .customTrustRoots]
        ) { subject in
            let certificates = try TestCertificates.shared()
            var options = ScriptedServer.Options(tls: certificates.server)
            options.identityForConnection = { $0 < 2 ? certificates.expired : nil }
            let server = try ScriptedServer.responding(options) { .ok($0.path) }
            let stack = try subject.stack { $0.tls.trustRoots = .file(path: certificates.caFile) }
            let observations = try (1...6).map { try stack.observe(server.url("/\($0)")) }
            var texts: [String] = []
            for observation in observations {
                if case .success = try await observation.onlyOutcome() {
                    texts.append(try await observation.onlyOutcome().text())
                }
            }
            try expectEqual(texts, ["/3", "/4", "/5", "/6"], "the bodies of the successful fetches")
        },
        ConformanceCheck(
            "The limit over all hosts is respected and fully used",
            needs: [.network, .totalConnectionLimit]
        ) {
            subject in
            let (held, tally) = (Latch(), Tally())
            let servers = try (1...3).map { _ in
                try ScriptedServer.responding { request in
                    tally.enter()
                    defer { tally.leave() }
                    held.wait()
                    return .ok(request.path)
                }
            }
            defer { held.open() }
            let stack = try subject.stack {
                $0.connections.perHost = 2
                $0.connections.total = 4
            }
            let observations = try (1...5).flatMap { number in
                try servers.map { try stack.observe($0.url("/\(number)")) }
            }
            try await eventually("four requests are under way") { tally.current >= 4 }
            // A stack without the limit has two more by then, unless the machine is very slow.
            try await Task.sleep(for: .milliseconds(300))
            held.open()
            for observation in observations { _ = try await observation.onlyOutcome().text() }
            try expectEqual(tally.most, 4, "the most requests at a time")
            try expectEqual(servers.map(\.requests.count), [5, 5, 5], "requests")
        },
        ConformanceCheck("Each port counts as a separate host with separate connections", needs: [.network]) {
            subject in
            let servers = try (1...2).map { number in try ScriptedServer.responding { _ in .ok("server \(number)") } }
            let stack = try subject.stack { $0.connections.perHost = 1 }
            for _ in 1...5 {
                for (index, server) in servers.enumerated() {
                    try expectEqual(try await stack.text(server.url()), "server \(index + 1)", "the body")
                }
            }
            try expectEqual(servers.map(\.snapshot.accepted), [1, 1], "connections")
        },
    ]
}

/// Counts concurrent requests.
final class Tally: Sendable {
    private let counts = Lock((current: 0, most: 0))

    var current: Int { counts.withLock { $0.current } }
    var most: Int { counts.withLock { $0.most } }

    func enter() {
        counts.withLock { counts in
            counts.current += 1
            counts.most = max(counts.most, counts.current)
        }
    }

    func leave() { counts.withLock { $0.current -= 1 } }
}
