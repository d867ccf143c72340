import FoundationEssentials
import NetworkStackTesting

@testable import NetworkStack

extension EngineHistory {
    /// The invariants after every step.
    func checkPlaces() throws {
        if let fault = world.fault { try must(fault, false) }
        // A task that a step woke may still be at work.
        try wait("No place leaks.", until: { activeCount == world.transfers.count(where: \.isLive) })
        let live = world.transfers.filter(\.isLive)
        let byHost = Dictionary(grouping: live, by: \.hop.origin)
        let shares = engine.transport.places.shares
        for (origin, transfers) in byHost {
            try must("No more hops run at a host than may.", transfers.count <= connections.perHost)
            try must("Every hop that runs has a place.", shares[origin]?.active == transfers.count)
        }
        let total = connections.total ?? .max
        try must("No more hops run in all than may.", live.count <= total)
        let active = shares.values.reduce(0) { $0 + $1.active }
        let waits = shares.values.contains { $0.waiting > 0 && $0.active < connections.perHost }
        try must("No hop waits while there is room.", !waits || active >= total)
        for fetch in world.fetches {
            try must("A fetch completes once.", fetch.now.endings.count <= 1)
        }
    }

    private var activeCount: Int { engine.transport.places.shares.values.reduce(0) { $0 + $1.active } }

    /// The invariants after the shutdown.
    func checkEnd() throws {
        try checkLateFetch()
        try finishQueue()
        try must("No fetch remains after a shutdown.", engine.context.deadlines.count == 0)
        try must("A fetch that has ended waits on no clock.", sleeperCount == 0)
        try must("Every hop has ended or is cancelled.", world.transfers.allSatisfy { !$0.isLive })
        try must("No place leaks.", engine.transport.places.shares.isEmpty)
        for fetch in world.fetches { try check(fetch) }
        try checkEvents()
        for fetch in world.fetches { fetch.release() }
        world.removeTransfers()
        world.removeCalls()
        try checkReleased()
    }

    private func check(_ fetch: EngineHistoryFetch) throws {
        let now = fetch.now
        let text = "fetch \(fetch.number), \(now)"
        try must("A fetch completes once: \(text)", now.endings.count == 1)
        let ending = now.endings[0]
        try must("A cancel before the completion wins: \(text)", !now.isCancelled || ending == "cancelled")
        try must("A fetch ends with an outcome that its events allow: \(text)", now.allowed.contains(ending))
        if let value = now.value { try must("A value is the received body: \(text)", now.carried.contains(value)) }
        for attempt in Set(now.scheduled + now.ended) {
            let (begins, ends) = (now.scheduled.count { $0 == attempt }, now.ended.count { $0 == attempt })
            try must("Interceptors are called for one end of each attempt: \(text)", begins <= 1 && ends == 1)
        }
        guard ending == "success", fetch.streams else { return }
        if let replacement = now.replacement {
            // Of two attempts, either may be the one that succeeded.
            let bodies = [replacement, now.streamed]
            try must("A stream is delivered in order: \(text)", bodies.contains { $0.starts(with: now.read) })
            let isWhole = now.verdict != "finished" || bodies.contains(now.read)
            try must("A stream is delivered to its end: \(text)", isWhole)
            return
        }
        try must("A stream is delivered in order: \(text)", now.streamed.starts(with: now.read))
        let isHeld = now.stream != nil && now.cancelCount == 0
        try must("A stream that is whole succeeds: \(text)", !(now.isWhole && isHeld) || now.verdict == "finished")
        guard now.verdict == "finished" else { return }
        try must("A stream that is cut off fails: \(text)", now.isWhole || now.isCancelledAtItsEnd)
        try must("A stream is delivered to its end: \(text)", now.read == now.streamed)
    }

    /// The guarantees for listeners (``EventListener``).
    private func checkEvents() throws {
        let recorded = events.recorder(after: engine.events).fetches
        try must("Every fetch has events.", recorded.count == world.fetches.count)
        for (fetch, entries) in zip(world.fetches, recorded) {
            if let disorder = EventRecorder.fault(in: entries) {
                throw fault("The events of a fetch come in order, and its end once: \(disorder)")
            }
            let now = fetch.now
            let ends =
                switch now.endings[0] {
                // A stream may have ended before the cancel, which its completion honoured.
                case "cancelled" where now.isWhole || fetch.streams && now.replacement != nil:
                    ["fetchCancelled", "fetchSucceeded"]
                case "cancelled" where now.isCancelledAtItsEnd:
                    ["fetchSucceeded", "fetchFailed", "fetchCancelled"]
                case "cancelled" where now.allowed.contains("success") && fetch.streams:
                    ["fetchCancelled", "fetchFailed"]
                case "cancelled": ["fetchCancelled"]
                case "success" where !fetch.streams: ["fetchSucceeded"]
                case "success" where now.replacement != nil || now.isCancelledAtItsEnd:
                    ["fetchSucceeded", "fetchFailed", "fetchCancelled"]
                case "success": now.isWhole ? ["fetchSucceeded"] : ["fetchFailed", "fetchCancelled"]
                default: ["fetchFailed"]
                }
            let last = entries.last?.name ?? "none"
            try must("The last event is how the fetch ended, \(now): \(entries)", ends.contains(last))
        }
    }
}
