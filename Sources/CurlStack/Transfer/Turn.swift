internal import CCurl
internal import NetworkStack

/// What the transfers of a loop share: the lists of transfers with something to do, the connections, and the budgets of a turn.
final class Turn {
    /// A transfer, and when to continue it.
    typealias Delayed = (transfer: Transfer, until: MonotonicTime)

    let quirks: LibcurlQuirks
    let gates: TrustGates
    /// The transfers that have something to report, in order, and the place of the next.
    @safe @exclusivity(unchecked)
    private var touched: [Transfer] = []
    @safe @exclusivity(unchecked)
    private var nextTouchedPlace = 0
    let connections: ConnectionTable
    let readers = ResponseReader.Pool()
    let held = BufferedHTTP2Input()
    /// How much connections may be read before libcurl comes back.
    let reads = ReadBudget()
    /// How much body they may bring before that.
    let content = ContentBudget()
    /// Whether any of the lists that follow may hold a transfer. Most never do: only this is read then, without a check for exclusivity.
    private(set) var hasWork = false
    /// The transfers whose budget is spent: they continue in the next turn.
    var overBudget: [Transfer] = [] { didSet { hasWork = true } }
    /// The transfers that continue to send, or begin again, at a moment.
    var postponed: [Delayed] = [] { didSet { hasWork = true } }
    /// The transfers whose body waits for 100 Continue, and when they continue without it.
    var awaiting100Continue: [ObjectIdentifier: Delayed] = [:] { didSet { hasWork = true } }
    /// The transfers that wait for more of their request's body, where libcurl has to be called meanwhile.
    var waitingForContent: [ObjectIdentifier: Transfer] = [:] { didSet { hasWork = true } }
    /// The transfers that failed on resuming, which libcurl does not report again. Without a code, they begin again: libcurl would open
    /// a connection.
    var failedOnResume: [(transfer: Transfer, code: CURLcode?)] = [] { didSet { hasWork = true } }
    /// The transfers whose connect failed, or has begun with a socket: they may have another address to try.
    var retryingConnect: [(transfer: Transfer, socket: Int32?)] = [] { didSet { hasWork = true } }

    init(quirks: LibcurlQuirks = .running, gates: TrustGates = .all, events: EventReporter? = nil) {
        (self.quirks, self.gates) = (quirks, gates)
        connections = ConnectionTable(reportingTo: events)
    }

    /// libcurl is about to be called.
    func renewBudgets() {
        reads.renew()
        content.renew()
    }

    /// libcurl's deadline has come.
    func actOnTimeout(_ multi: MultiHandle) {
        renewBudgets()
        connections.floods.begin()
        defer { connections.floods.end() }
        multi.actOnTimeout()
    }

    /// A socket is ready.
    func act(on event: Poller.Event, _ multi: MultiHandle) {
        renewBudgets()
        connections.floods.begin()
        defer { connections.floods.end() }
        multi.act(on: event)
        if quirks.contains(.unreadHTTP2Fault), let connection = connections[descriptor: event.descriptor],
            connection.hasStreams
        {
            held.mayHideFault(on: connection)
        }
        held.read(connections[descriptor: event.descriptor])
        lookPastPause(on: connections[descriptor: event.descriptor])
    }

    /// Releases its transfers, which hold it.
    func end() {
        while nextTouched() != nil {}
        (postponed, failedOnResume, waitingForContent, retryingConnect) = ([], [], [:], [])
        (overBudget, awaiting100Continue) = ([], [:])
    }

    /// A transfer has something to report, and is not listed yet.
    func touch(_ transfer: Transfer) {
        transfer.isTouched = true
        touched.append(transfer)
    }

    /// Takes the next transfer that has something to report. Others may be added meanwhile.
    func nextTouched() -> Transfer? {
        guard nextTouchedPlace < touched.count else {
            touched.removeAll(keepingCapacity: true)
            nextTouchedPlace = 0
            return nil
        }
        let transfer = touched[nextTouchedPlace]
        nextTouchedPlace += 1
        transfer.isTouched = false
        return transfer
    }

    /// A connection was read: has libcurl look at what came for the transfers that wait for more body.
    func lookPastPause(on connection: @autoclosure () -> Connection?) {
        guard hasWork, !waitingForContent.isEmpty, let connection = connection() else { return }
        for transfer in Array(waitingForContent.values) where transfer.attempt.connection === connection {
            transfer.resume()
        }
    }

    /// When a transfer continues, in milliseconds of the monotonic clock.
    var nextMoment: Int64? {
        let look = [held.nextLook, held.nextLookForFaults].lazy.compactMap(\.self?.nextMillisecond).min()
        guard hasWork else { return look }
        let next = postponed.lazy.map(\.until.nextMillisecond).reduce(look) { min($0 ?? $1, $1) }
        guard !awaiting100Continue.isEmpty else { return next }
        return awaiting100Continue.values.reduce(next ?? .max) { min($0, $1.until.nextMillisecond) }
    }

    /// Has libcurl deal with what it leaves lying: what it holds of HTTP/2 connections, and addresses to connect to.
    func lookAgain(at transfers: some Sequence<Transfer>) {
        for connection in held.next() {
            guard let transfer = transfers.first(where: { $0.attempt.connection === connection && $0.isReceiving })
            else {
                continue
            }
            transfer.easy?.nudge()
            held.waits(on: connection)
        }
        if held.beginLookForFaults() { lookForFaults(on: transfers) }
        guard hasWork else { return }
        for (transfer, socket) in retryingConnect where transfer.phase == .connecting && !transfer.isWatched(socket) {
            transfer.easy?.nudge()
        }
        retryingConnect.removeAll()
        if !overBudget.isEmpty {
            let transfers = exchange(&overBudget, with: [])
            content.renew()
            for transfer in transfers where !transfer.response.isHeldBack { transfer.resumeReceiving() }
        }
        if !awaiting100Continue.isEmpty { endWaitsFor100Continue() }
        if !postponed.isEmpty { continuePostponed() }
        hasWork = !overBudget.isEmpty || !postponed.isEmpty || !awaiting100Continue.isEmpty
        hasWork = hasWork || !waitingForContent.isEmpty || !failedOnResume.isEmpty || !retryingConnect.isEmpty
    }

    /// Has libcurl read the connections on which nothing has come for a while, through one transfer of each.
    private func lookForFaults(on transfers: some Sequence<Transfer>) {
        let now = MonotonicTime.now
        for transfer in transfers where transfer.isReceiving {
            guard let connection = transfer.attempt.connection, held.isQuiet(connection, at: now) else { continue }
            transfer.easy?.nudge()
        }
    }

    private func continuePostponed() {
        let now = MonotonicTime.now
        for (transfer, until) in postponed where until <= now {
            if transfer.attempt.restart != nil {
                failedOnResume.append((transfer, nil))
            } else {
                transfer.resumeSending()
            }
        }
        postponed.removeAll { $0.until <= now }
    }

    /// Has a transfer begin again in a while: libcurl would choose the same connection, which another has still to open.
    func postpone(_ transfer: Transfer) {
        transfer.attempt.restart = .atOnce
        postponed.append((transfer, MonotonicTime.now + .milliseconds(10)))
    }

    /// Takes the transfers that failed on resuming.
    func takeFailedOnResume() -> [(transfer: Transfer, code: CURLcode?)] {
        defer { failedOnResume = [] }
        return failedOnResume
    }

    /// Has libcurl notice that the wait for 100 Continue is over. Its own wait begins a little later.
    private func endWaitsFor100Continue() {
        let now = MonotonicTime.now
        for (id, waiting) in awaiting100Continue where waiting.until <= now {
            awaiting100Continue[id] = nil
            guard waiting.transfer.request.awaitsContinue, !waiting.transfer.response.head.isComplete,
                let easy = waiting.transfer.easy
            else {
                continue
            }
            awaiting100Continue[id] = (waiting.transfer, now + .milliseconds(10))
            easy.nudge()
        }
    }
}
