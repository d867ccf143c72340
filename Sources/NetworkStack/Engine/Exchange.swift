internal import Dispatch
internal import FoundationEssentials

/// One fetch from call to completion: makes the request, runs the hops, keeps the deadlines, ends exactly once.
///
/// What happens is decided by ``ExchangeState`` under the lock and done here after it is released.
final class Exchange: Cancelable, TimerWheelEntry {
    /// Starts a hop on the transport.
    typealias HopStart = @Sendable (HTTPHop, Exchange, _ number: Int) -> any HTTPTransfer

    private let state: Lock<ExchangeState>
    private let delivery: Lock<Delivery>
    private let wheel: TimerWheel
    private let queue: DispatchQueue
    private let startHop: HopStart
    private let options: HTTP.Options

    init(
        options: HTTP.Options,
        wheel: TimerWheel,
        queue: DispatchQueue,
        startHop: @escaping HopStart,
        complete: @escaping @Sendable (Ending) -> Void
    ) {
        state = Lock(ExchangeState(options: options, now: .now))
        delivery = Lock(Delivery(complete: complete))
        self.options = options
        self.wheel = wheel
        // What hears informational responses is told them in order, and before the end.
        self.queue = options.onInformational == nil ? queue : DispatchQueue(label: "exchange", target: queue)
        self.startHop = startHop
    }

    // MARK: Making

    /// Hands a made request over.
    typealias Handler = @Sendable (Result<HTTP.Request, any Error>) -> any Cancelable

    /// Makes the request and sends it.
    func begin(checkingOptions: Bool, _ make: (_ handler: @escaping Handler) -> any Cancelable) {
        if checkingOptions {
            do { try options.validate() } catch { return end(.refused(error)) }
        }
        let firstLook = state.withLock { $0.clocks.firstLook }
        let ticket = wheel.insert(self, at: firstLook)
        if let late = state.withLock({ $0.hold(ticket: ticket) }) { wheel.remove(late) }
        let making = make { [self] result in
            guard state.withLock({ $0.wasHandedOver() }) else { return self }
            switch result {
            case .success(let request): carry(request)
            case .failure(let error): end(.noRequest(error))
            }
            return self
        }
        if making !== self { state.withLock { $0.hold(making: making) }?.cancel() }
    }

    // MARK: Hops

    private func carry(_ request: HTTP.Request) {
        let hop: HTTPHop
        let fragment: String?
        do {
            let (checked, origin, urlText, leftOut) = try request.checked()
            fragment = leftOut
            let source = try checked.body.open { [weak self] in self?.sourceIsReady() }
            hop = HTTPHop(
                request: checked,
                origin: origin,
                urlText: urlText,
                options: options,
                source: source,
                allowsWithholding: true
            )
        } catch {
            return end(.refused(error))
        }
        let number = state.withLock {
            $0.begin(hop.request, origin: hop.origin, fragment: fragment, source: hop.source, now: .now)
        }
        guard let number else {
            hop.source?.close()
            return
        }
        let transfer = startHop(hop, self, number)
        let (cancels, resumesSending) = state.withLock { $0.hold(transfer, hop: number) }
        if cancels { transfer.cancel() }
        if resumesSending { transfer.resumeSending() }
    }

    private func sourceIsReady() {
        state.withLock { $0.sourceIsReady() }?.resumeSending()
    }

    func entered(_ phase: HTTP.Phase, hop: Int) {
        state.withLock { $0.entered(phase, hop: hop, now: .now) }
    }

    func progressed(hop: Int) {
        state.withLock { $0.progressed(hop: hop, now: .now) }
    }

    func received(informational response: HTTP.Response, hop: Int) {
        let isHeard = state.withLock { state in
            state.progressed(hop: hop, now: .now)
            return state.isCurrent(hop)
        }
        if isHeard, let hear = options.onInformational { queue.async { hear(response) } }
    }

    func received(head: HTTP.Response, hop: Int) {
        act(on: state.withLock { $0.received(head: head, hop: hop, now: .now) })
    }

    func received(body chunk: Data, hop: Int) {
        act(on: state.withLock { $0.received(body: chunk, hop: hop, now: .now) })
    }

    func withheld(_ count: Int64, hop: Int) {
        act(on: state.withLock { $0.withheld(count, hop: hop, now: .now) })
    }

    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics, hop: Int) {
        act(on: state.withLock { $0.finished(trailers: trailers, metrics: metrics, hop: hop, now: .now) })
    }

    func failed(_ ending: Ending, hop: Int) {
        if state.withLock({ $0.isCurrent(hop) }) { end(ending) }
    }

    private func act(on verdict: ExchangeState.Verdict) {
        switch verdict {
        case .goOn, .ignore: break
        case .end(let ending): end(ending)
        case .follow(let request, let abandoned):
            abandoned?.cancel()
            state.withLock { $0.takeSource() }?.close()
            carry(request)
        }
    }

    // MARK: Ending

    func cancel() { end(.cancelled) }

    func deadlineReached(_ now: MonotonicTime) -> MonotonicTime? {
        switch state.withLock({ $0.stage == .ended ? nil : $0.clocks.read(now) }) {
        case nil: return nil
        case .lookAgain(let deadline): return deadline
        case .expired(let timeout, let phase):
            end(.refused(.timedOut(timeout, during: phase)))
            return nil
        }
    }

    private func end(_ ending: Ending) {
        guard let remains = state.withLock({ $0.end() }) else { return }
        if let ticket = remains.ticket { wheel.remove(ticket) }
        remains.making?.cancel()
        if case .whole = ending {} else { remains.transfer?.cancel() }
        remains.source?.close()
        deliver(delivery.withLock { $0.ended(ending) })
    }

    /// `fetch` is about to return; from now on the completion may be called.
    func returnsToCaller() {
        deliver(delivery.withLock { $0.returned() })
    }

    func completesInPlace() {
        guard options.onInformational == nil else { return }
        delivery.withLock { $0.completesInPlace = true }
    }

    private func deliver(_ action: Delivery.Action) {
        switch action {
        case .nothing: break
        case .here(let complete, let ending): complete(ending)
        case .onQueue(let complete, let ending): queue.async { complete(ending) }
        }
    }
}

/// When and where the completion is called: once, and only after `fetch` has returned.
struct Delivery {
    enum Action {
        case nothing
        case here(@Sendable (Ending) -> Void, Ending)
        case onQueue(@Sendable (Ending) -> Void, Ending)
    }

    var completesInPlace = false
    private var complete: (@Sendable (Ending) -> Void)?
    private var ending: Ending?
    private var hasReturned = false

    init(complete: @escaping @Sendable (Ending) -> Void) { self.complete = complete }

    mutating func ended(_ ending: Ending) -> Action {
        guard hasReturned else {
            self.ending = ending
            return .nothing
        }
        return call(with: ending)
    }

    mutating func returned() -> Action {
        hasReturned = true
        return ending.map { call(with: $0) } ?? .nothing
    }

    private mutating func call(with ending: Ending) -> Action {
        guard let complete else { return .nothing }
        self.complete = nil
        self.ending = nil
        return completesInPlace && ending.isPlain ? .here(complete, ending) : .onQueue(complete, ending)
    }
}
