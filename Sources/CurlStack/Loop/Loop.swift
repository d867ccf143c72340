internal import CCurl
internal import NetworkStack

/// The life of the one thread that calls libcurl: act on what is ready, finish what has ended, process commands, begin what may begin,
/// report what happened, wait.
///
/// It is made inside its thread and cannot leave it. One transfer's failure is that transfer's: nothing here throws.
struct Loop: ~Copyable {
    private let mailbox: Mailbox
    private let poller: Poller
    private let context: LoopContext
    private var pools: Pools
    private var queue: ConnectionQueue
    private var waiting = WaitingTransfers()
    private var active = ActiveTransfers()
    private var times = TurnTimes(at: .now)
    private var commands: [Mailbox.Command] = []
    private var isStopping = false
    private var (events, nextEvent): ([Poller.Event], Int) = ([], 0)
    private var turnsSinceLook = 0

    /// Commands come first. While they keep coming, the loop looks at its sockets once in so many turns.
    private static let turnsPerLook = 8

    init(
        mailbox: Mailbox,
        configuration: Network.Configuration,
        authorities: Authorities,
        quirks: LibcurlQuirks = .running,
        gates: TrustGates = .all,
        events: EventReporter? = nil
    ) {
        self.mailbox = mailbox
        context = LoopContext(quirks: quirks, gates: gates, events: events)
        poller = Poller(waker: mailbox.waker)
        pools = Pools(configuration, authorities, poller: poller, connections: context.connections, quirks: quirks)
        queue = ConnectionQueue(limits: configuration.connections, quirks: quirks)
    }

    /// Runs until the stop command has come and nothing is under way.
    mutating func run() {
        mailbox.batch.begin()
        while true {
            processCommands()
            runTimeouts()
            finishEnded()
            flush()
            mailbox.batch.resumeAll()
            if isStopping, active.isEmpty, waiting.isEmpty { break }
            let now = MonotonicTime.now
            times.end(at: now)
            // What has ended in `flush` is taken before the loop waits.
            if nextEvent == events.count, !context.mayHaveEnded {
                let mayWait = mailbox.prepareToWait()
                turnsSinceLook += 1
                guard mayWait || turnsSinceLook == Self.turnsPerLook else { continue }
                turnsSinceLook = 0
                look(from: now, waits: mayWait)
                times.begin(at: .now)
            }
            act()
            finishEnded()
            // Before commands are processed: those of the resumed tasks are among them then.
            mailbox.batch.resumeAll()
        }
        for command in mailbox.close() { command.refuse() }
        mailbox.batch.end()
        context.end()
    }

    /// Acts on what is ready, until so much has come that it is worth a turn: what is handed on is still in the processor's
    /// cache when the tasks that the turn ends read it, and what they free is at hand for what they allocate next.
    private mutating func act() {
        var room = BodyBudget.perTurn
        while room > 0, nextEvent < events.count {
            let event = events[nextEvent]
            nextEvent += 1
            guard poller.isCurrent(event) else { continue }
            if let pool = pools.all[event.slot] { context.act(on: event, pool.multi) }
            room -= context.bodies.share
        }
    }

    // MARK: Commands

    private mutating func processCommands() {
        mailbox.takeAll(into: &commands)
        guard !commands.isEmpty else { return }
        let now = MonotonicTime.now
        for command in commands {
            switch command {
            case .start(let control): start(control, at: now)
            case .cancel(let control): cancel(control)
            case .resumeReceiving(let control): active[control]?.resumeReceiving()
            case .resumeSending(let control): active[control]?.resumeSending()
            case .replaceCertificates(let tls, let authorities, let answer):
                pools.replace(tls, authorities, beside: active.all)
                queue.unconfirmConnections()
                answer.fill(())
            case .report(let answer): answer.fill(.init(queue, context, active.all, &times))
            case .stop: isStopping = true
            case .shutDown:
                isStopping = true
                failAll()
            }
        }
        commands.removeAll(keepingCapacity: true)
    }

    private mutating func start(_ control: TransferControl, at now: MonotonicTime) {
        guard !isStopping else { return control.fail(.shutDown) }
        // An earlier command may have made room, which belongs to those that waited.
        if queue.waitingCount > 0 { startWaiting() }
        let transfer = Transfer(control, hostQueue: queue.hostQueue(of: control.hop), context: context, at: now)
        if queue.enter(transfer.id, in: transfer.hostQueue) {
            begin(transfer, at: now)
        } else {
            waiting.insert(transfer)
        }
    }

    private mutating func cancel(_ control: TransferControl) {
        if let transfer = active[control] {
            // The transfers that wait for its connection join it first, so that it stays open for them.
            recordMultiplexing(of: transfer)
            connectReleased()
            active.remove(transfer)
            transfer.isOver = true
            abandon(transfer)
        } else if waiting.take(ObjectIdentifier(control)) != nil {
            queue.giveUp(ObjectIdentifier(control))
        }
    }

    /// Drops a transfer that is active no longer, and gives its place to the next.
    private mutating func abandon(_ transfer: Transfer) {
        pools[of: transfer]?.abandon(transfer, beside: active.all)
        release(transfer)
    }

    private mutating func failAll() {
        for transfer in active.all { pools[of: transfer]?.end(transfer) }
        for transfer in active.removeAll() + waiting.removeAll() { transfer.giveUp(.shutDown) }
    }

    // MARK: Beginning and ending

    /// A transfer has its place.
    private mutating func begin(_ transfer: Transfer, at now: MonotonicTime) {
        active.insert(transfer)
        guard queue.claimConnect(transfer.id, in: transfer.hostQueue) else { return active.follow(transfer) }
        transfer.connects()
        connect(transfer, at: now)
    }

    private mutating func connect(_ transfer: Transfer, at now: MonotonicTime) {
        // A transfer that waited for another to connect had a place, and did not use it. One that connects again waited before.
        transfer.place.waited = transfer.place.waited ?? now - transfer.place.enqueuedAt
        transfer.place.poolNumber = queue.takePool(in: transfer.hostQueue)
        transfer.attempt.joinsHTTP2 =
            transfer.hostQueue.host.version == .http2PriorKnowledge && transfer.hostQueue.isMultiplexed
            && !transfer.hostQueue.host.sharesOnceAnswered
        carry(transfer, at: now)
    }

    /// Makes another attempt, because the last one brought no response that counts. libcurl chooses a connection again.
    private mutating func startOver(_ transfer: Transfer) {
        pools[of: transfer]?.end(transfer)
        if transfer.attempt.restart == .afterTunnel { return context.startOverLater(transfer) }
        transfer.startOver()
        let (hostQueue, number) = (transfer.hostQueue, transfer.place.poolNumber)
        if queue.claimReconnect(transfer.id, in: hostQueue, pool: number) { return carry(transfer, at: .now) }
        (transfer.place.poolNumber, transfer.place.slot) = (nil, nil)
        // Another opens the connection that it joins.
        transfer.sends.needsFreshConnection = transfer.control.hop.needsNewConnection
        active.follow(transfer)
    }

    private mutating func carry(_ transfer: Transfer, at now: MonotonicTime) {
        transfer.place.slot = transfer.place.poolNumber.flatMap { pools.make($0, at: now) }
        let code = pools[of: transfer]?.begin(transfer, at: now) ?? CURLE_OUT_OF_MEMORY
        guard code != CURLE_OK else { return }
        active.remove(transfer)
        transfer.finish(code)
        release(transfer)
    }

    private mutating func finishEnded() {
        finishUnreported()
        var lastSound: Connection?
        for case let pool? in pools.all {
            while let (transfer, code) = pool.nextFinished() {
                if transfer.attempt.restart != nil || code != CURLE_OK && transfer.prepareToStartOver(after: code) {
                    startOver(transfer)
                    continue
                }
                if code == CURLE_OK, transfer.mayBeCutOff, transfer.attempt.connection !== lastSound {
                    lastSound = pool.probeConnection(of: transfer, among: active.all)
                }
                active.remove(transfer)
                transfer.finish(code)
                recordMultiplexing(of: transfer)
                if transfer.hasLeftStream { pool.sendReset(of: transfer, beside: active.all) }
                release(transfer)
            }
        }
        context.mayHaveEnded = false
        startWaiting()
    }

    /// Ends a transfer that libcurl would go on with: it has failed, or its response is complete, and the rest of the request is not sent.
    private mutating func conclude(_ transfer: Transfer, with code: CURLcode = CURLE_OK) {
        active.remove(transfer)
        transfer.finish(code)
        transfer.mayKeepHandle = false
        abandon(transfer)
    }

    /// Ends those that have failed without a message, and starts those over that are to open no connection.
    private mutating func finishUnreported() {
        for (transfer, code) in exchange(&context.unreportedFailures, with: []) where active.contains(transfer) {
            conclude(transfer, with: code)
        }
        // One that libcurl has reported meanwhile has started over already.
        for transfer in exchange(&context.startingOver, with: [])
        where active.contains(transfer) && transfer.attempt.restart != nil {
            startOver(transfer)
        }
    }

    /// Gives the transfer's handle and its place back.
    private mutating func release(_ transfer: Transfer) {
        pools[of: transfer]?.end(transfer)
        queue.leave(transfer.hostQueue, transfer.id, pool: transfer.place.poolNumber)
    }

    /// Goes on with those that now may.
    private mutating func startWaiting() {
        while queue.waitingCount > 0, let id = queue.next() {
            if let transfer = waiting.take(id) { begin(transfer, at: .now) }
        }
        connectReleased()
    }

    private mutating func connectReleased() {
        while case let released = queue.takeReleased(), !released.isEmpty {
            for case let transfer? in released.map({ active.takeFollower($0) }) { connect(transfer, at: .now) }
        }
    }

    private mutating func recordMultiplexing(of transfer: Transfer) {
        guard transfer.attempt.isConnected, !transfer.attempt.hasReportedVersion else { return }
        let mayBeJoined = transfer.mayBeJoined
        let isMultiplexed = transfer.attempt.speaksHTTP2
        queue.recordMultiplexing(of: transfer.hostQueue, isMultiplexed: isMultiplexed, mayBeJoined: mayBeJoined)
        transfer.attempt.hasReportedVersion = mayBeJoined == isMultiplexed
    }

    /// Reports what the turn brought.
    private mutating func flush() {
        while let transfer = context.nextTouched() {
            transfer.flush()
            // The loop has learned from one that has left, and the queue may have forgotten its host.
            if active.contains(transfer) { recordMultiplexing(of: transfer) }
            if transfer.isAnsweredEarly { conclude(transfer) }
        }
        context.lookAgain(at: active.all)
        finishUnreported()
        startWaiting()
        pools.endFormer(beside: active.all)
    }

    // MARK: Time

    private mutating func runTimeouts() {
        let now = MonotonicTime.now
        poller.turnStart = now.milliseconds
        for case let pool? in pools.all where pool.multi.isDue(at: now) { context.actOnTimeout(pool.multi) }
        pools.closeUnused(beside: active.all, at: now)
        while let transfer = waiting.takeLate(at: now) {
            queue.giveUp(transfer.id)
            transfer.control.fail(.timedOut(.queue, during: .queued))
        }
    }

    /// Takes the sockets that are ready. If it may, it waits for them, or until something else is to be done.
    private mutating func look(from now: MonotonicTime, waits: Bool) {
        var next = waiting.nextMoment
        if let moment = context.nextMoment { next = min(next ?? moment, moment) }
        if let moment = pools.nextMoment { next = min(next ?? moment, moment) }
        events.removeAll(keepingCapacity: true)
        nextEvent = 0
        let longest = next.map { Int32(clamping: max(0, $0 - now.milliseconds)) } ?? -1
        poller.wait(milliseconds: waits ? longest : 0, into: &events)
        mailbox.endWaiting()
    }
}
