import Foundation
import NetworkStack
import Synchronization

/// Shows what a fetch does on standard error, as curl's -v does. Values that are secret are left out.
final class Trace: Sendable {
    private struct State {
        var hop: HTTPHop?
        /// Whether the hop's request was shown.
        var isShown = false
        /// Where the hop got to.
        var phase = HTTP.Phase.queued
    }

    private let stack: StackChoice
    private let state = Mutex(State())

    /// Makes a trace of one fetch.
    init(of stack: StackChoice) { self.stack = stack }

    func begins(_ hop: HTTPHop) { state.withLock { $0 = State(hop: hop) } }

    func entered(_ phase: HTTP.Phase) {
        state.withLock { state in
            state.phase = phase
            guard let hop = state.hop, !state.isShown else { return }
            let place = "\(hop.origin.host) port \(hop.origin.port)"
            switch phase {
            case .resolving: Self.write("* Looking up \(hop.origin.host)\n")
            case .connecting: Self.write("* Connecting to \(stack.detour(from: hop.origin) ?? place)\n")
            case .securing: Self.write("* Negotiating TLS with \(hop.origin.host)\n")
            case .sending, .waiting:
                if let version = knownVersion(of: hop) { show(&state, version) }
            default: break
            }
        }
    }

    func received(_ response: HTTP.Response) {
        state.withLock { state in
            if state.hop?.origin.scheme == .https, !state.isShown {
                Self.write("* TLS is negotiated; ALPN chose \(response.version.major > 1 ? "h2" : "http/1.1")\n")
            }
            show(&state, response.version.major > 1 ? .http2 : .http1_1)
        }
        var text = "< \(response.version) \(response.status)\n"
        for line in "\(response.headers)".split(separator: "\n") { text += "< \(line)\n" }
        Self.write(text + "<\n")
    }

    func ended(_ outcome: Outcome) {
        let isConnected = ![.dns, .connect, .tls, .pin, .proxy].contains(outcome.failure?.kind)
        let place = state.withLock { state in
            // The version was negotiated, and no response shows it.
            if isConnected, [.sending, .waiting, .receiving].contains(state.phase) { show(&state, .http1_1) }
            return state.hop.map { "\($0.origin.host) port \($0.origin.port)" } ?? ""
        }
        let metrics = outcome.metrics
        guard isConnected else {
            return Self.write("* No connection to \(place), after \(outcome.elapsed.milliseconds) ms\n")
        }
        if let pins = metrics.serverPins {
            Self.write("* The server's public keys, its own first: \(pins.map { "\($0)" }.joined(separator: ", "))\n")
        }
        let times = [
            ("name", metrics.resolved), ("connection", metrics.connected), ("TLS", metrics.secured),
            ("first byte", metrics.firstByte),
        ]
        .compactMap { name, time in time.map { "\(name) after \($0.milliseconds) ms" } }
        if !times.isEmpty { Self.write("* \(times.joined(separator: ", "))\n") }
        var text = "* "
        if let failure = outcome.failure { text += "Failed\(failure.phase.map { " while \($0.rawValue)" } ?? ""), " }
        text += "\(outcome.count) bytes in \(outcome.elapsed.milliseconds) ms"
        text += ", \(outcome.hops) request\(outcome.hops == 1 ? "" : "s")"
        if let address = metrics.remoteAddress, !address.isEmpty {
            text += ", \(address)" + (metrics.remotePort.map { " port \($0)" } ?? "")
        }
        if let isReused = metrics.isConnectionReused { text += isReused ? ", connection reused" : ", new connection" }
        Self.write(text + "\n")
    }

    private func show(_ state: inout State, _ version: HTTP.Version) {
        guard let hop = state.hop, !state.isShown else { return }
        state.isShown = true
        let lines = SentHead(hop, over: stack, version: version).lines
        Self.write(lines.map { "> \($0)\n" }.joined() + ">\n")
    }

    /// The version, where it is not negotiated. URLSession does not report when it sends: what is sent is shown later.
    private func knownVersion(of hop: HTTPHop) -> HTTP.Version? {
        switch hop.options.version {
        case _ where stack.backend == .urlsession: nil
        case .http2PriorKnowledge: .http2
        case .automatic where hop.origin.scheme == .https: nil
        default: .http1_1
        }
    }

    static func write(_ text: String) { _ = LocalFile.write(Data(text.utf8), to: STDERR_FILENO) }
}
