import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Dropped stacks release their resources.
    static let stackLifetimes: [ConformanceCheck] = [
        ConformanceCheck("A stack dropped while it fetches finishes its fetches") { subject in
            let (held, tally) = (Latch(), Tally())
            let peer = try subject.serve { request in
                tally.enter()
                held.wait()
                return .ok(request.path)
            }
            defer { held.open() }
            var stack: ConformanceSubject.Stack? = try subject.stack()
            let observations = try (1...5).compactMap { try stack?.observe(peer.url("/\($0)")) }
            try await eventually("the server has the requests") { tally.current == 5 }
            stack = nil
            held.open()
            for (index, observation) in observations.enumerated() {
                try expectEqual(try await observation.onlyOutcome().text(), "/\(index + 1)", "fetch \(index + 1)")
            }
        },
        ConformanceCheck("A stack dropped with queued fetches finishes them too", needs: [.network]) {
            subject in
            let held = Latch()
            let server = try ScriptedServer.responding { request in
                if request.path == "/0" { held.wait() }
                return .ok(request.path)
            }
            defer { held.open() }
            var stack: ConformanceSubject.Stack? = try subject.stack { $0.connections.perHost = 1 }
            let observations = try (0..<5).compactMap { try stack?.observe(server.url("/\($0)")) }
            try await server.sees("the first request") { $0.requests.count == 1 }
            stack = nil
            held.open()
            for (index, observation) in observations.enumerated() {
                try expectEqual(try await observation.onlyOutcome().text(), "/\(index)", "fetch \(index)")
            }
        },
        ConformanceCheck("A shutdown sends no request that waits", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let stack = try subject.stack { $0.connections.perHost = 1 }
            let observations = try (0..<20).map { try stack.observe(server.url("/\($0)"), method: .POST) }
            try await server.sees("the first request") { $0.requests.count == 1 }
            try await bounded { await stack.shutdown() }
            for observation in observations {
                guard case .failure(.shutDown) = try await observation.onlyOutcome() else {
                    throw ConformanceFailure("A fetch did not end with the shutdown")
                }
            }
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
            try await Task.sleep(for: .milliseconds(100))
            try expectEqual(server.requests.count, 1, "requests")
        },
        ConformanceCheck("A fetch of a dropped stack can still be cancelled", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            var stack: ConformanceSubject.Stack? = try subject.stack()
            let observation = try stack?.observe(server.url())
            try await server.sees("the request") { $0.requests.count == 1 }
            stack = nil
            observation?.cancel()
            try await observation?.onlyOutcome(within: .seconds(10)).expectCancelled()
            try await server.sees("the close", within: .seconds(10)) { $0.connections.first?.isEndedByPeer == true }
        },
        ConformanceCheck("A stack dropped after its fetches closes its connections", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { .ok($0.path) }
            for _ in 1...5 {
                let stack = try subject.stack()
                let observations = try (1...3).map { try stack.observe(server.url("/\($0)")) }
                for observation in observations { _ = try await observation.onlyOutcome().text() }
            }
            try await server.sees("the end of every connection") { $0.open == 0 && $0.requests.count == 15 }
        },
        ConformanceCheck("An unused stack can be dropped") { subject in
            for _ in 1...20 { _ = try subject.stack() }
        },
        ConformanceCheck("A fetch releases its resource when it ends") { subject in
            final class Witness: Sendable {
                let ended: Gate
                init(_ ended: Gate) { self.ended = ended }
                deinit { ended.open() }
            }
            let peer = try subject.serve { $0.path == "/" ? .ok("done") : .status(500, "failed") }
            let stack = try subject.stack()
            for path in ["/", "/failed"] {
                let ended = Gate()
                let request = try HTTP.Request(url: peer.url(path))
                try await bounded {
                    let witness = Witness(ended)
                    var options = HTTP.Options()
                    if subject.capabilities.supports(.informationalResponses) {
                        options.onInformational = { _ in withExtendedLifetime(witness) {} }
                    }
                    let resource = ConformanceSubject.Stack.Resource(
                        baseRequestMaking: .init { handler in
                            withExtendedLifetime(witness) { handler(.success(request)) }
                        },
                        errorDecoding: .init { _, _ in withExtendedLifetime(witness) { nil } },
                        options: options.replacing
                    )
                    _ = try? await stack.fetch(resource: resource)
                }
                do { try await ended.opened(within: .seconds(5)) } catch is WaitTimedOut {
                    throw ConformanceFailure("The stack still retains the resource of a fetch that has ended, \(path)")
                }
            }
            _ = try await stack.observe(peer.url("/")).onlyOutcome()  // the stack itself lives on
        },
        ConformanceCheck("What a caller keeps of a fetch keeps none of its options") { subject in
            final class Witness: Sendable {
                let ended: Gate
                init(_ ended: Gate) { self.ended = ended }
                deinit { ended.open() }
            }
            let peer = try subject.serve { _ in .ok("done") }
            let (stack, ended, completed) = (try subject.stack(), Gate(), Gate())
            let resource = { () throws in
                let (witness, request) = (Witness(ended), try HTTP.Request(url: peer.url("/")))
                var options = HTTP.Options()
                options.failsForStatus = { status in withExtendedLifetime(witness) { status != .ok } }
                return ConformanceSubject.Stack.Resource(
                    baseRequestMaking: .request(request),
                    options: options.replacing
                )
            }
            let fetch = stack.fetch(resource: try resource()) { _ in completed.open() }
            try await completed.opened(within: .seconds(10))
            do { try await ended.opened(within: .seconds(5)) } catch is WaitTimedOut {
                throw ConformanceFailure("The options of a fetch that has ended are still retained")
            }
            withExtendedLifetime(fetch) {}
        },
        ConformanceCheck("Two stacks side by side share no connection", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { .ok($0.path) }
            let stacks = try (1...2).map { _ in try subject.stack() }
            for round in 1...3 {
                for (index, stack) in stacks.enumerated() {
                    try await stack.text(server.url("/\(index)/\(round)"))
                }
            }
            let seen = server.snapshot
            try expectEqual(seen.accepted, 2, "connections")
            for connection in seen.connections {
                let owners = Set(connection.requests.map { $0.path.prefix(2) })
                try expectEqual(owners.count, 1, "stacks on one connection")
            }
        },
        ConformanceCheck("Events of one stack do not affect another", needs: [.network]) { subject in
            let held = Latch()
            let server = try ScriptedServer.responding { request in
                if request.path == "/held" { held.wait() }
                return .ok(request.path)
            }
            defer { held.open() }
            let (keeping, stack) = (try subject.stack(), try subject.stack { $0.connections.perHost = 1 })
            let observation = try keeping.observe(server.url("/held"))
            try await server.sees("the request") { $0.requests.count == 1 }
            let cancelled = try stack.observe(server.url("/held"))
            try await server.sees("the other request") { $0.requests.count == 2 }
            cancelled.cancel()
            try await cancelled.onlyOutcome().expectCancelled()
            held.open()
            try expectEqual(try await observation.onlyOutcome().text(), "/held", "the other stack's fetch")
        },
    ]
}
