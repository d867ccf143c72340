import Dispatch
import Foundation
import NetworkStack
import Synchronization

/// Whom a fetch tells what comes, one thing at a time and in order, on a queue of its own.
protocol Receiver: AnyObject, Sendable {
    /// A hop begins: the first request, or the one a redirect leads to.
    func begins(_ request: HTTP.Request)
    /// A hop has entered a phase.
    func entered(_ phase: HTTP.Phase)
    /// An informational response came.
    func received(informational response: HTTP.Response)
    /// A head came. More may follow, of further hops.
    func received(head response: HTTP.Response)
    /// A server is trusted although it has not the pinned keys.
    func received(report: ServerTrustReport)
    /// Content of the last hop came.
    ///
    /// - Throws: A ``Failure`` to end the fetch.
    func received(content: Data) throws
}

/// What one fetch brings. Content is given on as it comes; that of a response that may lead on is held, as it is nobody's
/// if the next hop begins. A slow receiver slows the server down.
final class Reception: Sendable {
    /// How far a fetch got.
    struct Arrival: Sendable {
        var request: HTTP.Request
        var head: HTTP.Response?
        var hops = 0
        var count: Int64 = 0
        var metrics: HTTP.Metrics?
        var failure: Failure?
    }

    private struct State {
        var arrival: Arrival
        var transfer: (any HTTPTransfer)?
        var followsRedirects = false
        /// The content that the fetch may have. What is beyond fails it, and is nobody's.
        var limit = Int64.max
        var holdsTransient = false
        var hasGiven = false
        var held: [Data]?
        /// What is held is a redirect's: nobody's if the redirect is followed, or refused.
        var holdsRedirect = false
        var heldCount = 0
        var waiting = 0
        var isPaused = false
        var resumesAtOnce = false
        var fetching: (any Cancelable)?
        /// What a transport still tells after the engine has had enough is not heard.
        var hasEnded = false
    }

    /// More of a redirect's content than any engine waits for before it goes on.
    private static let heldLimit = 1 << 20
    /// The content that may wait for the receiver.
    private static let (highMark, lowMark) = (1 << 20, 1 << 18)

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "netfetch.reception")
    private let receiver: any Receiver

    init(_ request: HTTP.Request, receiver: any Receiver) {
        state = Mutex(State(arrival: Arrival(request: request)))
        self.receiver = receiver
    }

    // MARK: What the tap sees

    /// A hop begins. Answers its number.
    func begin(_ hop: HTTPHop) -> Int {
        let request = hop.request
        let number = state.withLock { state in
            state.arrival.request = request
            state.arrival.head = nil
            state.arrival.hops += 1
            state.arrival.count = 0
            state.followsRedirects = hop.options.redirects.limit > 0
            state.limit = hop.options.limits.body
            (state.held, state.heldCount) = (nil, 0)
            state.hasGiven = false
            (state.transfer, state.isPaused, state.resumesAtOnce) = (nil, false, false)
            return state.arrival.hops
        }
        queue.async { [receiver] in receiver.begins(request) }
        return number
    }

    /// Keeps what steers the hop.
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

    /// Content came. Answers how much there is of this hop's, and whether to go on.
    func received(content chunk: Data, hop: Int) -> (total: Int64, goesOn: Bool) {
        let (pieces, answer): ([Data], (Int64, Bool)) = state.withLock { state in
            guard hop == state.arrival.hops, !state.hasEnded else { return ([], (0, true)) }
            let total = state.arrival.count + Int64(chunk.count)
            // A redirect's content does not count against the limit.
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
        for piece in pieces { give(piece) }
        return answer
    }

    func received(report: ServerTrustReport) {
        queue.async { [receiver] in receiver.received(report: report) }
    }

    /// Holds the content of answers that may be asked for again, too.
    func holdsTransient() { state.withLock { $0.holdsTransient = true } }

    /// Whether the receiver has had content of the last hop, which cannot be taken back.
    var hasGiven: Bool { state.withLock { $0.hasGiven } }

    func failed(_ metrics: HTTP.Metrics, hop: Int) {
        state.withLock { if hop == $0.arrival.hops { $0.arrival.metrics = metrics } }
    }

    // MARK: The end

    /// Keeps what cancels the fetch, for a receiver that fails.
    func hold(fetching: any Cancelable) {
        let isLate = state.withLock { state in
            state.fetching = fetching
            return state.arrival.failure != nil
        }
        if isLate { fetching.cancel() }
    }

    /// The fetch has ended. Gives on what was held, unless it is that of a redirect that could not be followed, and tells how
    /// far it got once the receiver has had everything.
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
        for piece in held { give(piece) }
        queue.async { [self] in
            let arrival = state.withLock { state in
                (state.transfer, state.fetching) = (nil, nil)
                return state.arrival
            }
            completion(arrival)
        }
    }

    // MARK: Giving on

    private func take(_ count: Int, in state: inout State) -> Bool {
        state.waiting += count
        state.hasGiven = true
        if state.waiting > Self.highMark { state.isPaused = true }
        return !state.isPaused
    }

    private func give(_ chunk: Data) {
        queue.async { [self] in
            let isWanted = state.withLock { $0.arrival.failure == nil }
            var failure: Failure?
            if isWanted {
                do { try receiver.received(content: chunk) } catch {
                    failure = error as? Failure ?? Failure(.other, "\(error)")
                }
            }
            let (resumed, cancelled) = state.withLock { state in
                state.waiting -= chunk.count
                if let failure { state.arrival.failure = failure }
                let cancelled = failure == nil ? nil : state.fetching
                guard state.isPaused, state.waiting <= Self.lowMark else {
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
