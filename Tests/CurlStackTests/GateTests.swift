import NetworkStack
import NetworkStackConformance
import NetworkStackTesting
import Testing

@testable import CurlStack

/// On each route to a pinned server, a stack without one of the trust gates fails a named check.
@Suite("Each gate on each route to a pinned server", .serialized)
struct GateTests {
    /// The routes of a request to a server.
    enum Route: CaseIterable {
        case newConnection
        case reusedConnection
        case resumedSession
        case streamOfHTTP2
        case redirect
        case silentRepeat
        case proxyTunnel
    }

    /// What happens without the gate.
    enum Proof {
        /// This check fails, with a failure that contains this text.
        case check(String, red: String)
        /// The route does not need the gate: the other gate applies there, as its row proves.
        case unneeded(String)
    }

    /// The client finished the handshake with an impostor, although it sent no request.
    private static let handshake = "The client finished a handshake"
    /// An impostor was sent the request, and answered it.
    private static let success = "must fail, succeeded with status 200"
    /// An impostor was not reported.
    private static let noReport = "report"

    static let rows: [(route: Route, gate: TrustGates, proof: Proof)] = [
        (
            .newConnection, .handshake,
            .check("A pin of the server's certificate admits its server and no other", red: handshake)
        ),
        (
            .newConnection, .request,
            .check("A report-only policy passes every server and reports mismatches", red: noReport)
        ),
        (.reusedConnection, .handshake, .unneeded("No handshake takes place: the request gate refuses.")),
        (.reusedConnection, .request, .check("Pins hold on a connection opened without them", red: success)),
        (.resumedSession, .handshake, .check("No TLS session begun without pins is resumed with them", red: handshake)),
        (
            .resumedSession, .request,
            .unneeded("No session is resumed where pins count: the handshake gate sees the server's certificates.")
        ),
        (.streamOfHTTP2, .handshake, .unneeded("No handshake takes place: the request gate refuses.")),
        (
            .streamOfHTTP2, .request,
            .check("Pins hold for each stream of an HTTP/2 connection opened without them", red: success)
        ),
        (
            .redirect, .handshake,
            .check("A redirect to a host with another policy must match that policy", red: handshake)
        ),
        (.redirect, .request, .check("Pins hold for a redirect over a connection opened without them", red: success)),
        (
            .silentRepeat, .handshake,
            .check("A silent repeat on another connection reaches no impostor", red: handshake)
        ),
        (.silentRepeat, .request, .check("A report-only policy reports the server of a silent repeat", red: noReport)),
        (.proxyTunnel, .handshake, .check("Every route to a pinned server must match its keys", red: handshake)),
        (.proxyTunnel, .request, .check("Pins hold in a proxy's tunnel opened without them", red: success)),
    ]

    @Test("has a check, or is not needed", .timeLimit(.minutes(1)), arguments: rows.indices)
    func leftOut(_ place: Int) async throws {
        let (route, gate, proof) = Self.rows[place]
        guard case .check(let name, let red) = proof else { return }
        let check = try #require(ConformanceCheck.all.first { $0.name == name }, "There is no check \(name)")
        let subject = ConformanceSubject(name: "CurlStack", capabilities: .init()) {
            try Network.CurlNetworkStack(configuration: $0, without: [], lacking: gate)
        }
        let report = ConformanceReport(name: "CurlStack without a gate")
        let failure = await #expect(throws: ConformanceFailure.self, "\(route): \(name)") {
            try await subject.prove(check, noting: report)
        }
        #expect(failure?.description.contains(red) == true, "\(route): \(String(describing: failure))")
    }

    @Test("has one row for each route, and no route is without a gate")
    func complete() {
        for route in Route.allCases {
            let rows = Self.rows.filter { $0.route == route }
            #expect(rows.map(\.gate) == [.handshake, .request])
            #expect(rows.contains { if case .check = $0.proof { true } else { false } })
        }
        #expect(Self.rows.count == 2 * Route.allCases.count)
    }
}
