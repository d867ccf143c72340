internal import CCurl
internal import NetworkStack

/// What the transfers of a loop share: those that something happened to in this turn, and the connections' sockets.
final class Turn {
    let quirks: LibcurlQuirks
    let gates: TrustGates
    /// Those that have something to report, in order, and the place of the next.
    @safe @exclusivity(unchecked)
    private var touched: [Transfer] = []
    @safe @exclusivity(unchecked)
    private var nextTouchedPlace = 0
    let connections = ConnectionTable()
    let readers = ResponseReader.Pool()
    let held = BufferedHTTP2Input()
    /// How much connections may be read before libcurl comes back.
    let reads = ReadBudget()
    /// How much content they may bring before that.
    let content = ContentBudget()
    /// Whether any of the lists that follow may hold somebody. Most never do: this is read alone, without a check for exclusivity.
    private(set) var hasRest = false
    /// Those that have more for the next turn.
    var crowded: [Transfer] = [] { didSet { hasRest = true } }
    /// Those that are to go on sending at a moment, or to begin again.
    var postponed: [(transfer: Transfer, until: MonotonicInstant)] = [] { didSet { hasRest = true } }

    /// Those whose content waits for the server to ask for it, and when they are called up if it did not.
    var asking: [ObjectIdentifier: (transfer: Transfer, until: MonotonicInstant)] = [:] { didSet { hasRest = true } }

    /// Those that wait for content, if they are to be looked after meanwhile.
    var waitingForContent: [ObjectIdentifier: Transfer] = [:] { didSet { hasRest = true } }

    /// Those that ended when they were to go on, which libcurl does not tell again; without a code, those that it would open a
    /// connection for, which are to begin again.
    var stopped: [(transfer: Transfer, code: CURLcode?)] = [] { didSet { hasRest = true } }

    /// Those whose attempt to connect was given up, or has begun with a socket: they may have another address to try.
    var betweenAddresses: [(transfer: Transfer, socket: Int32?)] = [] { didSet { hasRest = true } }

    init(quirks: LibcurlQuirks = .running, gates: TrustGates = .all) { (self.quirks, self.gates) = (quirks, gates) }

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
        let running = multi.running
        connections.floods.begin()
        defer { connections.floods.end() }
        multi.act(on: event)
        // A fault is noticed when libcurl reads again. What has ended a transfer is seldom one.
        if quirks.contains(.unreadHTTP2Fault), multi.running >= running,
            connections[descriptor: event.descriptor]?.hasStreams ?? false
        {
            multi.act(on: event)
        }
        held.read(connections[descriptor: event.descriptor])
        lookPastPause(on: connections[descriptor: event.descriptor])
    }

    /// Lets go of the transfers it knows, which know it.
    func end() {
        while nextTouched() != nil {}
        (postponed, stopped, waitingForContent, betweenAddresses) = ([], [], [:], [])
        (crowded, asking) = ([], [:])
    }

    /// A transfer that is not among them has something to tell.
    func touch(_ transfer: Transfer) {
        transfer.isTouched = true
        touched.append(transfer)
    }

    /// Takes the next that has something to tell. Others may come to have some meanwhile, and come up after those.
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

    /// A connection was read: has libcurl look at what came for those that wait for content.
    func lookPastPause(on connection: @autoclosure () -> Connection?) {
        guard hasRest, !waitingForContent.isEmpty, let connection = connection() else { return }
        for transfer in Array(waitingForContent.values) where transfer.attempt.connection === connection {
            transfer.receiveBesidePause()
        }
    }

    /// When somebody is to go on, in milliseconds of the monotonic clock.
    var nextMoment: Int64? {
        let look = held.nextLook?.milliseconds
        guard hasRest else { return look }
        let next = postponed.lazy.map(\.until.milliseconds).reduce(look) { min($0 ?? $1, $1) }
        guard !asking.isEmpty else { return next }
        return asking.values.reduce(next ?? .max) { min($0, $1.until.milliseconds) }
    }

    /// Has libcurl deal with what it leaves lying: what it holds of HTTP/2 connections, and addresses to connect to.
    func lookAgain(at transfers: some Sequence<Transfer>) {
        for connection in held.next() {
            guard let transfer = transfers.first(where: { $0.attempt.connection === connection && $0.isReceiving })
            else {
                continue
            }
            transfer.easy?.callUp()
            held.waits(on: connection)
        }
        guard hasRest else { return }
        for (transfer, socket) in betweenAddresses where transfer.phase == .connecting && !transfer.isWatched(socket) {
            transfer.easy?.callUp()
        }
        betweenAddresses.removeAll()
        if !crowded.isEmpty {
            let crowd = crowded
            crowded = []
            content.renew()
            for transfer in crowd where !transfer.response.isHeldBack { transfer.resumeReceiving() }
        }
        if !asking.isEmpty { goOnUnasked() }
        if !postponed.isEmpty { goOnPostponed() }
        hasRest = !crowded.isEmpty || !postponed.isEmpty || !asking.isEmpty || !waitingForContent.isEmpty
        hasRest = hasRest || !stopped.isEmpty || !betweenAddresses.isEmpty
    }

    private func goOnPostponed() {
        let now = MonotonicInstant.now
        for (transfer, until) in postponed where until <= now {
            if transfer.attempt.restart != nil { stopped.append((transfer, nil)) } else { transfer.resumeSending() }
        }
        postponed.removeAll { $0.until <= now }
    }

    /// Has a transfer begin again in a while: libcurl would choose the same connection, which another has still to open.
    func postpone(_ transfer: Transfer) {
        transfer.attempt.restart = .atOnce
        postponed.append((transfer, MonotonicInstant.now.after(.milliseconds(10))))
    }

    /// Takes those that ended when they were to go on.
    func takeStopped() -> [(transfer: Transfer, code: CURLcode?)] {
        defer { stopped = [] }
        return stopped
    }

    /// Has libcurl see for those that were not asked that they have waited long enough; its wait begins a little later than
    /// theirs.
    private func goOnUnasked() {
        let now = MonotonicInstant.now
        for (id, waiting) in asking where waiting.until <= now {
            asking[id] = nil
            guard waiting.transfer.request.awaitsContinue, !waiting.transfer.response.head.isComplete,
                let easy = waiting.transfer.easy
            else {
                continue
            }
            asking[id] = (waiting.transfer, now.after(.milliseconds(10)))
            easy.callUp()
        }
    }
}
