import FoundationEssentials
import NetworkStackTesting

@testable import NetworkStack

/// One hop, whose events are random.
final class EngineHistoryTransfer: HTTPTransfer {
    private struct State {
        var head: HTTP.Response?
        var sent = Data()
        var (isOver, isCancelled, isHeldBack, hasBegun) = (false, false, false, false)
    }

    let hop: HTTPHop
    private let sink: any HTTPTransferSink<HTTPTransferError>
    let fetch: EngineHistoryFetch?
    private let state = Lock(State())

    static let bodyLimit = 50_000
    static let redirectLimit = 3

    init(_ hop: HTTPHop, _ sink: any HTTPTransferSink<HTTPTransferError>, _ fetch: EngineHistoryFetch?) {
        (self.hop, self.sink, self.fetch) = (hop, sink, fetch)
    }

    var isOver: Bool { state.withLock { $0.isOver } }
    /// Whether it has a place, and reports.
    var isLive: Bool { state.withLock { !$0.isOver && !$0.isCancelled } }

    func cancel() { state.withLock { $0.isCancelled = true } }
    func resumeReceiving() { state.withLock { $0.isHeldBack = false } }
    func resumeSending() {}

    private var hasSuccess: Bool { state.withLock { $0.head?.status == .ok } }

    /// Reports an event, or nothing while the engine pauses the transfer.
    func act(_ random: inout SeededRandom) {
        if state.withLock({ $0.head == nil }) {
            switch random.number(below: 12) {
            case 0:
                let phases = [HTTP.Phase.queued, .resolving, .connecting, .securing, .sending, .waiting]
                enter(random.pick(phases) ?? .queued)
            case 1:
                state.withLock { $0.hasBegun = true }
                sink.entered(.sending, on: HTTP.Connection(), isReused: random.chance(2))
            case 2: sink.sent(Int64(random.number(below: 100)))
            case 3:
                beginSending()
                sink.informational(HTTP.Response(status: 103, url: hop.request.url))
            case 4: fail(&random)
            case 5: finishAtOnce(&random)
            default: head(&random)
            }
            return
        }
        switch random.number(below: 6) {
        case 0: finish()
        case 1 where random.chance(4): fail(&random)
        default: body(&random)
        }
    }

    /// Ends successfully if it can.
    func conclude() {
        if state.withLock({ $0.head == nil }) { report(HTTP.Response(status: .ok, url: hop.request.url)) }
        if hasSuccess, state.withLock({ $0.sent.isEmpty && !$0.isHeldBack }) { report(Data("late".utf8)) }
        finish()
    }

    // MARK: Events

    private func enter(_ phase: HTTP.Phase) {
        state.withLock { $0.hasBegun = phase == .sending || phase == .waiting }
        sink.entered(phase)
    }

    /// No server answers before the request is sent.
    private func beginSending() {
        if state.withLock({ !$0.hasBegun }) { enter(.waiting) }
    }

    private func randomHead(_ random: inout SeededRandom) -> HTTP.Response {
        let url = hop.request.url
        return switch random.number(below: 12) {
        case 0: HTTP.Response(status: 302, headers: [.location: "/next"], url: url)
        case 1: HTTP.Response(status: 307, headers: [.location: "http://b.test/next"], url: url)
        case 2: HTTP.Response(status: 307, headers: [.location: "/next", "Content-Length": "70000"], url: url)
        case 3: HTTP.Response(status: 302, headers: random.chance(2) ? [.location: "ftp://a.test"] : [:], url: url)
        case 4: HTTP.Response(status: .serviceUnavailable, headers: ["Retry-After": "7"], url: url)
        case 5: HTTP.Response(status: .unauthorized, url: url)
        default: HTTP.Response(status: .ok, url: url)
        }
    }

    /// Allows the outcomes of a head.
    private func allow(_ head: HTTP.Response) {
        guard let fetch, isLive else { return }
        switch head.status.statusClass {
        case .success: if fetch.streams { fetch.allow("success") }
        case .redirection:
            fetch.change { $0.redirects += 1 }
            if head.headers[.location] == nil { fetch.allow("http") }
            if head.headers[.location]?.hasPrefix("ftp") ?? false { fetch.allow("invalidRedirect") }
            if fetch.now.redirects > Self.redirectLimit { fetch.allow("tooManyRedirects") }
        default:
            fetch.allow("http")
            if head.status == .unauthorized { fetch.allow("retry") }
        }
    }

    private func head(_ random: inout SeededRandom) { report(randomHead(&random)) }

    private func report(_ head: HTTP.Response) {
        beginSending()
        allow(head)
        state.withLock { $0.head = head }
        sink.head(head)
    }

    private func body(_ random: inout SeededRandom) {
        guard state.withLock({ !$0.isHeldBack }) else { return }
        let count = random.chance(8) ? 60_000 : 1 + random.number(below: 2000)
        report(Data(repeating: UInt8(truncatingIfNeeded: random.next()), count: count))
    }

    private func report(_ chunk: Data) {
        let sent = state.withLock { state in
            state.sent += chunk
            return state.sent.count
        }
        if let fetch, isLive {
            if sent > Self.bodyLimit { fetch.allow("bodyTooLarge") }
            if hasSuccess, fetch.isStreaming { fetch.change { $0.streamed += chunk } }
        }
        let hasRoom = sink.body(chunk)
        state.withLock { if !hasRoom { $0.isHeldBack = true } }
    }

    private func finish() {
        let body = state.withLock { $0.sent }
        if let fetch, !fetch.streams, isLive, hasSuccess { allow(body, of: fetch) }
        let endsStream = isLive && hasSuccess && fetch?.isStreaming ?? false
        ending(stream: endsStream) { sink.finished(trailers: nil, metrics: .init()) }
    }

    private func finishAtOnce(_ random: inout SeededRandom) {
        beginSending()
        let body = random.chance(6) ? Data() : Data("whole \(random.number(below: 100))".utf8)
        let head = randomHead(&random)
        allow(head)
        state.withLock { ($0.head, $0.sent) = (head, body) }
        let isSuccess = isLive && hasSuccess
        if let fetch, isSuccess {
            if fetch.streams { fetch.change { $0.streamed += body } } else { allow(body, of: fetch) }
        }
        ending(stream: isSuccess && fetch?.streams ?? false) {
            sink.finished(head, body: body, trailers: nil, metrics: .init())
        }
    }

    private func allow(_ body: Data, of fetch: EngineHistoryFetch) {
        fetch.allow(body.isEmpty ? "noData" : "success")
        fetch.change { $0.carried.append(body) }
    }

    /// Reports an end. That gives its place to another hop, whose start may cancel this fetch before or after it knows of the end.
    private func ending(stream endsStream: Bool, _ report: () -> Void) {
        state.withLock { $0.isOver = true }
        let cancels = fetch?.now.cancelCount
        report()
        guard endsStream else { return }
        fetch?.change { fetch in
            fetch.isWhole = fetch.cancelCount == cancels
            fetch.isCancelledAtItsEnd = !fetch.isWhole
        }
    }

    private func fail(_ random: inout SeededRandom) {
        let kind = random.pick([HTTP.FailureKind.dns, .connect, .empty, .receive, .send, .truncated]) ?? .other
        var metrics = HTTP.Metrics()
        metrics.isConnectionReused = random.chance(2)
        if isLive { fetch?.allow("transport") }
        state.withLock { $0.isOver = true }
        sink.failed(.transport(HTTPTransferError(kind, during: .waiting, "The history fails it.")), metrics: metrics)
    }
}
