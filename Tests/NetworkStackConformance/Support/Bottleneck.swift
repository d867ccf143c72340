import NetworkStack
import NetworkStackTesting

/// A stack with one connection per host, and a server to which a fetch of `/held` occupies that connection. The server answers it
/// when the latch opens, and any other path at once, with the path.
struct Bottleneck: Sendable {
    let server: ScriptedServer
    let stack: ConformanceSubject.Stack
    /// The fetch that occupies the connection.
    let first: Observation
    private let held: Latch

    init(_ subject: ConformanceSubject) async throws {
        let held = Latch()
        server = try ScriptedServer.responding { request in
            if request.path == "/held" { held.wait() }
            return .ok(request.path)
        }
        stack = try subject.stack { $0.connections.perHost = 1 }
        first = try stack.observe(server.url("/held"))
        self.held = held
        try await server.sees("the first request") { $0.requests.count == 1 }
    }

    /// Opens the latch, so that the first fetch is answered.
    func open() { held.open() }
}

extension ConformanceSubject {
    /// Starts a server that answers nothing until the latch is opened.
    func serveLate() throws -> (peer: ConformancePeer, held: Latch) {
        let held = Latch()
        let peer = try serve { _ in
            held.wait()
            return .ok("late")
        }
        return (peer, held)
    }
}
