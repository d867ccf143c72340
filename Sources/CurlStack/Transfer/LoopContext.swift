internal import CCurl
internal import NetworkStack

/// What the transfers of a loop share: the lists of transfers with something to do, the connections, and the budgets of a turn.
final class LoopContext {
    let quirks: LibcurlQuirks
    let gates: TrustGates
    let connections: ConnectionTable
    let readers = ResponseReader.Pool()
    /// What libcurl may hold of connections of HTTP/2; `nil` before the first stream.
    private(set) var held: BufferedHTTP2Input?
    /// How much connections of TLS may be read before libcurl comes back; `nil` before the first of them.
    private var reads: ReadBudget?
    /// How much body connections of HTTP/1.1 may bring before that.
    let bodies = BodyBudget()
    /// Whether transfers may have ended since those that had were taken.
    var mayHaveEnded = false
    /// The transfers that have something to report, in order.
    @safe @exclusivity(unchecked)
    private var touched = Deque<Transfer>()
    /// What is done for transfers once the events of this turn have been acted on, or later.
    var agenda = Agenda()
    /// The transfers that wait for more of their request's body, where libcurl has to be called meanwhile.
    var waitingForBody: [ObjectIdentifier: Transfer] = [:]
    /// The transfers that have failed without a message of libcurl's.
    var unreportedFailures: [(transfer: Transfer, code: CURLcode)] = []
    /// The transfers that start over: libcurl would have opened a connection for them, or has given them one that another transfer was
    /// still opening.
    var startingOver: [Transfer] = []

    init(quirks: LibcurlQuirks = .running, gates: TrustGates = .all, events: EventReporter? = nil) {
        (self.quirks, self.gates) = (quirks, gates)
        connections = ConnectionTable(reportingTo: events)
    }

    /// A transfer has become a stream of a connection of HTTP/2.
    ///
    /// - Returns: What notes that libcurl may hold input of that.
    func holdsInput() -> BufferedHTTP2Input {
        if let held { return held }
        let made = BufferedHTTP2Input()
        held = made
        return made
    }

    /// A connection is about to negotiate TLS.
    ///
    /// - Returns: What limits how much of it is read.
    func readBudget() -> ReadBudget {
        if let reads { return reads }
        let made = ReadBudget()
        reads = made
        return made
    }

    /// libcurl is about to be called.
    func renewBudgets() {
        reads?.renew()
        bodies.renew()
    }

    /// Calls libcurl where it may read connections and end transfers. Every such call goes through here, which limits how long a server
    /// can keep libcurl from returning.
    private func call(_ act: () -> Void) {
        renewBudgets()
        mayHaveEnded = true
        connections.floods?.begin()
        act()
        connections.floods?.end()
    }

    /// libcurl's deadline has come, or all that is due is to be done now.
    func actOnTimeout(_ multi: MultiHandle) { call { multi.actOnTimeout() } }

    /// A socket is ready.
    func act(on event: Poller.Event, _ multi: MultiHandle) {
        call {
            multi.act(on: event)
            if let held { noteRead(of: event.descriptor, held) }
            lookPastPause(on: connections[descriptor: event.descriptor])
        }
    }

    /// libcurl may have read a connection.
    private func noteRead(of descriptor: Int32, _ held: BufferedHTTP2Input) {
        guard let connection = connections[descriptor: descriptor] else { return }
        if connection.hasStreams, quirks.contains(.unreadHTTP2Fault) { held.mayHideFault(on: connection) }
        held.read(connection)
    }

    /// Releases its transfers, which hold it.
    func end() {
        while nextTouched() != nil {}
        (agenda, unreportedFailures, startingOver, waitingForBody) = (Agenda(), [], [], [:])
    }

    /// A transfer has something to report, and is not listed yet.
    func touch(_ transfer: Transfer) {
        transfer.isTouched = true
        touched.append(transfer)
    }

    /// Takes the next transfer that has something to report. Others may be added meanwhile.
    func nextTouched() -> Transfer? {
        let transfer = touched.popFirst()
        transfer?.isTouched = false
        return transfer
    }

    /// A connection was read: has libcurl look at what came for the transfers that wait for more body.
    func lookPastPause(on connection: @autoclosure () -> Connection?) {
        guard !waitingForBody.isEmpty, let connection = connection() else { return }
        for transfer in Array(waitingForBody.values) where transfer.attempt.connection === connection {
            transfer.resume()
        }
    }

    /// When something is to be done, in milliseconds of the monotonic clock.
    var nextMoment: Int64? {
        let moments = [held?.nextLook, held?.nextLookForFaults, agenda.nextMoment]
        return moments.lazy.compactMap(\.self?.nextMillisecond).min()
    }

    /// Has libcurl deal with what it holds of HTTP/2 connections, and does what is due.
    func lookAgain(at transfers: some Sequence<Transfer>) {
        if let held { look(at: held, of: transfers) }
        if !agenda.isEmpty { doWhatIsDue() }
    }

    private func look(at held: BufferedHTTP2Input, of transfers: some Sequence<Transfer>) {
        for connection in held.next() {
            guard let transfer = transfers.first(where: { $0.attempt.connection === connection && $0.isReceiving })
            else {
                continue
            }
            transfer.easy?.nudge()
            held.waits(on: connection)
        }
        guard held.beginLookForFaults() else { return }
        // Reads the connections on which nothing has come for a while, through one transfer of each.
        let now = MonotonicTime.now
        for transfer in transfers where transfer.isReceiving {
            guard let connection = transfer.attempt.connection, held.isQuiet(connection, at: now) else { continue }
            transfer.easy?.nudge()
        }
    }

    private func doWhatIsDue() {
        let now = MonotonicTime.now
        bodies.renew()
        for (transfer, task) in agenda.takeDue(at: now) {
            switch task {
            case .connect(let socket):
                if transfer.phase == .connecting, !transfer.isWatched(socket) { transfer.easy?.nudge() }
            case .receive: if !transfer.response.isHeldBack { transfer.resumeReceiving() }
            case .send: transfer.resumeSending()
            case .sendUnasked: endWaitFor100Continue(of: transfer, at: now)
            case .startOver: startingOver.append(transfer)
            }
        }
    }

    /// Has libcurl notice that the wait for 100 Continue is over. Its own wait begins a little later.
    private func endWaitFor100Continue(of transfer: Transfer, at now: MonotonicTime) {
        guard transfer.request.awaitsContinue, !transfer.response.head.isComplete, let easy = transfer.easy else {
            return
        }
        agenda.add(.sendUnasked, for: transfer, at: now + .milliseconds(10))
        easy.nudge()
    }

    /// Has a transfer start over in 10 ms. At once, libcurl would choose the same connection, which another has still to open.
    func startOverLater(_ transfer: Transfer) {
        transfer.attempt.restart = .atOnce
        agenda.add(.startOver, for: transfer, at: MonotonicTime.now + .milliseconds(10))
    }
}

/// What is to be done for transfers, each task at a moment, and those that are due in the order in which they were added.
struct Agenda {
    enum Task: Equatable {
        /// Have libcurl try the next address, unless it still watches the socket that it opened for this one.
        case connect(socket: Int32?)
        /// Receive again: the budget of the turn was spent.
        case receive
        /// Send again.
        case send
        /// Send the body, for which no 100 Continue has come.
        case sendUnasked
        /// Make another attempt.
        case startOver
    }

    private var entries: [(transfer: Transfer, task: Task, due: MonotonicTime)] = []

    var isEmpty: Bool { entries.isEmpty }

    /// When the first task is due.
    var nextMoment: MonotonicTime? { entries.lazy.map(\.due).min() }

    mutating func add(_ task: Task, for transfer: Transfer, at due: MonotonicTime = .now) {
        entries.append((transfer, task, due))
    }

    /// Drops a task of a transfer, or all that it has.
    mutating func drop(_ task: Task? = nil, of transfer: Transfer) {
        entries.removeAll { $0.transfer === transfer && $0.task == task ?? $0.task }
    }

    mutating func takeDue(at now: MonotonicTime) -> [(transfer: Transfer, task: Task)] {
        defer { entries.removeAll { $0.due <= now } }
        return entries.filter { $0.due <= now }.map { ($0.transfer, $0.task) }
    }
}

/// How many bytes of bodies over HTTP/1.1 libcurl may deliver before it returns to its loop.
///
/// As long as something waits on a connection, libcurl reads it again and again, and comes back when it has caught up: in the
/// middle of a body that comes as fast as it is dealt with, never. Chunks of one byte are sent a hundred times as fast. When
/// the budget is spent, the transfer is paused, and goes on at the end of the turn. TLS has ``ReadBudget`` besides. Bodies over
/// HTTP/2 are not counted: a pause would hold back every stream of the connection.
final class BodyBudget {
    private var left = most
    private var pieces = 0
    /// How much body had been sent by the requests that are answered now.
    private var answered = 0
    /// When the clock was looked at for the first time, in milliseconds.
    private var since: Int64?

    private static let most = 16 << 20
    /// How many bytes of bodies are worth a turn of the loop. Compared with sixteen sockets per turn, small responses gain 3 to 5 % in the
    /// clear and 5 to 9 % over TLS.
    static let perTurn = 1 << 20
    /// No longer than this, in milliseconds, whatever there is to do for so much.
    private static let longest: Int64 = 20
    /// Small responses have few pieces, and need not look at the clock.
    private static let piecesPerLook = 64

    /// libcurl is about to be called.
    func renew() { (left, pieces, answered, since) = (Self.most, 0, 0, nil) }

    /// A server has answered a request with a body of so many bytes. Its caller may be about to send as much again, with all others that
    /// are answered in the same turn.
    func answers(_ count: Int64) { answered += Int(clamping: count) }

    /// Answers whether a piece may be taken still.
    func spend(_ count: Int) -> Bool {
        left -= count
        pieces += 1
        if pieces % Self.piecesPerLook == 0, isLate { left = -1 }
        return left >= 0
    }

    /// What the call counts for in its turn: what it delivered over HTTP/1.1, what the requests that it answered had sent, or so
    /// little that 64 calls are a turn.
    var share: Int { max(Self.most - left, answered, Self.perTurn / 64) }

    private var isLate: Bool {
        let now = MonotonicTime.now.milliseconds
        guard let since else {
            since = now
            return false
        }
        return now - since >= Self.longest
    }
}
