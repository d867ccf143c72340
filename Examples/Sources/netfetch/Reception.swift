import Dispatch
import Foundation
import NetworkStack
import Synchronization

/// Takes what a fetch brings, one thing at a time and in order, on a queue of the fetch.
protocol Receiver: AnyObject, Sendable {
    /// A hop begins: the first request, a redirect's, or a retry.
    func begins(_ hop: HTTPHop)
    /// A hop has entered a phase.
    func entered(_ phase: HTTP.Phase)
    /// So much of the request's body was sent.
    func sent(_ count: Int64, of length: Int64?)
    /// An informational response came.
    func received(informational response: HTTP.Response)
    /// A head came. More may follow, of further hops.
    func received(head response: HTTP.Response)
    /// A server is trusted although it does not have the pinned keys.
    func received(report: ServerTrustReport)
    /// Some of the last hop's body came.
    ///
    /// - Throws: A ``Failure`` to end the fetch.
    func received(body: Data) throws
}

extension Receiver {
    func entered(_ phase: HTTP.Phase) {}
    func sent(_ count: Int64, of length: Int64?) {}
    func received(informational response: HTTP.Response) {}
    func received(head response: HTTP.Response) {}
    func received(report: ServerTrustReport) {}
}

/// What one fetch brings. A body is delivered as it comes; that of a redirect or of a response that may be retried is held,
/// and dropped if the next hop begins. A slow receiver slows the server down.
final class Reception: Sendable {
    /// How far a fetch got.
    struct Arrival: Sendable {
        var request: HTTP.Request
        var head: HTTP.Response?
        /// The requests of the attempt under way.
        var requests: [HTTPHop] = []
        var hops = 0
        var redirects = 0
        var retries = 0
        var count: Int64 = 0
        var metrics: HTTP.Metrics?
        var failure: Failure?
    }

    private struct State {
        var arrival: Arrival
        var transfer: (any HTTPTransfer)?
        var followsRedirects = false
        /// The most bytes of a body that may come. More fail the fetch, and are dropped.
        var limit = Int64.max
        var holdsTransient = false
        var hasDelivered = false
        var held: [Data]?
        /// What is held is a redirect's: it is dropped if the redirect is followed, or refused.
        var holdsRedirect = false
        var heldCount = 0
        var waiting = 0
        var isPaused = false
        var resumesAtOnce = false
        var fetching: (any Cancelable)?
        /// What a transport reports after the fetch has ended is dropped.
        var hasEnded = false
    }

    /// More of a redirect's body than any engine waits for before it goes on.
    private static let heldLimit = 1 << 20
    /// The bytes that may wait for the receiver. A slow one has as many as it takes in a second, at most.
    private let (highMark, lowMark): (Int, Int)

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "netfetch.reception")
    private let receiver: any Receiver

    init(_ request: HTTP.Request, speed: ByteCount? = nil, receiver: any Receiver) {
        state = Mutex(State(arrival: Arrival(request: request)))
        highMark = min(1 << 20, Int(clamping: speed?.bytes ?? .max))
        lowMark = highMark / 4
        self.receiver = receiver
    }

    // MARK: What the tap reports

    /// A hop begins. Returns its number.
    func begin(_ hop: HTTPHop) -> Int {
        let number = state.withLock { state in
            if let head = state.arrival.head, head.leadsOn, state.followsRedirects {
                state.arrival.redirects += 1
            } else if state.arrival.hops > 0 {
                state.arrival.retries += 1
                state.arrival.redirects = 0
                state.arrival.requests = []
            }
            state.arrival.requests.append(hop)
            state.arrival.request = hop.request
            state.arrival.head = nil
            state.arrival.hops += 1
            state.arrival.count = 0
            state.followsRedirects = hop.options.redirects.limit > 0
            state.limit = hop.options.limits.body
            (state.held, state.heldCount) = (nil, 0)
            state.hasDelivered = false
            (state.transfer, state.isPaused, state.resumesAtOnce) = (nil, false, false)
            return state.arrival.hops
        }
        queue.async { [receiver] in receiver.begins(hop) }
        return number
    }

    /// Keeps what controls the hop.
    func hold(_ transfer: any HTTPTransfer, hop: Int) {
        let resumes = state.withLock { state in
            guard hop == state.arrival.hops else { return false }
            state.transfer = transfer
            defer { state.resumesAtOnce = false }
            return state.resumesAtOnce
        }
        if resumes { transfer.resumeReceiving() }
    }

    func entered(_ phase: HTTP.Phase, hop: Int) {
        queue.async { [receiver] in receiver.entered(phase) }
    }

    func sent(_ count: Int64, of length: Int64?) {
        queue.async { [receiver] in receiver.sent(count, of: length) }
    }

    func received(informational response: HTTP.Response, hop: Int) {
        queue.async { [receiver] in receiver.received(informational: response) }
    }

    func received(head response: HTTP.Response, hop: Int) {
        let isCurrent = state.withLock { state in
            guard hop == state.arrival.hops, !state.hasEnded else { return false }
            state.arrival.head = response
            let mayLeadOn = response.status.statusClass == .redirection && response.headers.contains(.location)
            let mayBeRepeated = state.holdsTransient && response.status.mayPass
            state.holdsRedirect = state.followsRedirects && mayLeadOn
            if state.holdsRedirect || mayBeRepeated { state.held = [] }
            return true
        }
        if isCurrent { queue.async { [receiver] in receiver.received(head: response) } }
    }

    /// Some of a body came. Returns how much there is of this hop's, and whether to go on.
    func received(body chunk: Data, hop: Int) -> (total: Int64, goesOn: Bool) {
        let (pieces, verdict): ([Data], (Int64, Bool)) = state.withLock { state in
            guard hop == state.arrival.hops, !state.hasEnded else { return ([], (0, true)) }
            let total = state.arrival.count + Int64(chunk.count)
            // A redirect's body does not count against the limit.
            if total > state.limit, state.held == nil { return ([], (total, true)) }
            state.arrival.count = total
            guard var held = state.held else { return ([chunk], (total, take(chunk.count, in: &state))) }
            state.held = nil
            held.append(chunk)
            state.heldCount += chunk.count
            if state.heldCount <= Self.heldLimit {
                state.held = held
                return ([], (total, true))
            }
            return (held, (total, take(state.heldCount, in: &state)))
        }
        for piece in pieces { deliver(piece) }
        return verdict
    }

    func received(report: ServerTrustReport) {
        queue.async { [receiver] in receiver.received(report: report) }
    }

    /// Holds the bodies of responses that may be retried, too.
    func holdsTransient() { state.withLock { $0.holdsTransient = true } }

    /// Whether the receiver has some of the last hop's body, which cannot be undone.
    var hasDelivered: Bool { state.withLock { $0.hasDelivered } }

    func failed(_ metrics: HTTP.Metrics, hop: Int) {
        state.withLock { if hop == $0.arrival.hops { $0.arrival.metrics = metrics } }
    }

    // MARK: The end

    /// Keeps what cancels the fetch, for when the receiver fails.
    func hold(fetching: any Cancelable) {
        let isLate = state.withLock { state in
            state.fetching = fetching
            return state.arrival.failure != nil
        }
        if isLate { fetching.cancel() }
    }

    /// The fetch has ended. Delivers what was held, unless it is that of a redirect that could not be followed, and then
    /// reports how far the fetch got.
    func end(isWhole: Bool, _ completion: @escaping @Sendable (Arrival) -> Void) {
        let held = state.withLock { state in
            state.hasEnded = true
            defer { state.held = nil }
            if state.holdsRedirect, state.held != nil, !isWhole {
                (state.held, state.arrival.count) = (nil, 0)
            }
            let held = state.held ?? []
            if !held.isEmpty { _ = take(state.heldCount, in: &state) }
            return held
        }
        for piece in held { deliver(piece) }
        queue.async { [self] in
            let arrival = state.withLock { state in
                (state.transfer, state.fetching) = (nil, nil)
                return state.arrival
            }
            completion(arrival)
        }
    }

    // MARK: Delivering

    private func take(_ count: Int, in state: inout State) -> Bool {
        state.waiting += count
        state.hasDelivered = true
        if state.waiting > highMark { state.isPaused = true }
        return !state.isPaused
    }

    private func deliver(_ chunk: Data) {
        queue.async { [self] in
            let isNeeded = state.withLock { $0.arrival.failure == nil }
            var failure: Failure?
            if isNeeded {
                do { try receiver.received(body: chunk) } catch {
                    failure = error as? Failure ?? Failure(.other, "\(error)")
                }
            }
            let (resumed, cancelled) = state.withLock { state in
                state.waiting -= chunk.count
                if let failure { state.arrival.failure = failure }
                let cancelled = failure == nil ? nil : state.fetching
                guard state.isPaused, state.waiting <= lowMark else {
                    return (nil as (any HTTPTransfer)?, cancelled)
                }
                state.isPaused = false
                if state.transfer == nil { state.resumesAtOnce = true }
                return (state.transfer, cancelled)
            }
            resumed?.resumeReceiving()
            cancelled?.cancel()
        }
    }
}
