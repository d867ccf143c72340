internal import CCurl
internal import FoundationEssentials
internal import NetworkStack

/// The loop's side of a transfer: libcurl's callbacks write here what they see, and once per turn it is told onwards.
///
/// It lives on the loop's thread alone, so it needs no lock.
final class Transfer {
    enum Taken {
        case taken
        case pause
        case abort
    }

    enum Sending {
        case bytes(Int)
        case end
        case pause
        case abort
    }

    let control: TransferControl
    /// The transfers to the same host.
    let line: ConnectionQueue.Line
    /// Where it was to connect, once it might.
    var poolNumber: Int?
    let enqueuedAt: MonotonicInstant
    /// The handle while libcurl carries the transfer.
    var easy: EasyHandle?
    /// When the transfer gives up waiting for a place.
    var queueDeadline: MonotonicInstant?
    /// How long the transfer waited for a place.
    var queued: Duration?

    let turn: Turn
    var openedSockets: [Int32] = []
    /// The connection, once there is one.
    var ends: OpenSockets.Ends? { didSet { isBetweenConnections = false } }
    /// Whether libcurl has given the connection up, and looks for another.
    var isBetweenConnections = false
    /// What libcurl waits for, where it would read that for a transfer that is paused.
    var socket: Int32? {
        willSet { holdSocketBack(false) }
        didSet { holdSocketBack(isReceivingPaused) }
    }
    /// The ends of the connection that libcurl has chosen, over a Unix socket.
    var unixEnds: OpenSockets.Ends?
    /// The transfer's stream on a connection of HTTP/2.
    var stream: UInt32?
    /// Whether the connection had been used before.
    var isReused = false
    /// How often the transfer was carried again, because the server did not deal with it.
    var repeats = 0
    /// How often the request was sent without an answer, but for what the server declares not processed.
    var sends = 0
    /// How often the request was sent again.
    var resends: Int?
    /// What is noted of the connection's TLS, if it has any; before there is one, of the latest handshake.
    var tlsRecord: TLSRecord?
    /// How many handshakes have begun on the latest connection. Behind a proxy that speaks TLS, the first is the proxy's.
    private(set) var handshakes = 0
    /// Whose handshakes the transfer may see.
    var peers: TLSPeers
    /// The keys of the chain the server was verified by, if they were asked for, and the pinned one among them.
    var serverPins: (chain: [PublicKeyPin], matched: PublicKeyPin?)?
    /// Whether libcurl was told that the host may speak HTTP/2.
    var mayNegotiateHTTP2 = true
    /// Whether the transfer counts on a connection that speaks HTTP/2 already.
    var joinsHTTP2 = false
    /// Whether the loop has learned from it what its host speaks.
    var hasTaught = false
    /// Whether it is among those of the turn that have something to tell, and the next of them.
    var isTouched = false
    var nextTouched: Transfer?
    /// Whether its end has been told.
    var isOver = false
    var isConnected = false
    /// Whether its connection speaks HTTP/2.
    var speaksHTTP2 = false
    /// Whether others may join its connection now.
    var mayBeJoined: Bool { speaksHTTP2 && (!line.host.sharesOnceAnswered || isReused || head.hasBegun) }
    /// Whether the server's challenge has been answered once.
    var hasAnsweredChallenge = false
    /// Whether the request was sent again, because the connection had died.
    var wasSentAgain = false
    /// Whether libcurl has carried the transfer without a failure, and at once.
    var isCleanlyDone = false
    /// Whether the content waits for the server to ask for it.
    var asksFirst: Bool
    /// Whether the next connection must be a fresh one.
    var needsFreshConnection = false
    /// The connection libcurl chose is of no use; nothing was sent, or nothing that counts.
    var needsOtherConnection = false
    /// Whether that is because another has not finished opening it.
    var meetsTunnel = false
    /// Where in its life the transfer is.
    private(set) var phase = HTTP.Phase.queued
    private var isPhaseTold = true

    private let buffers: ResponseBuffers
    // Of the buffers; every callback needs one.
    let head: HeadReader
    let body: ByteBuffer
    var informational: [HTTP.Response] = []
    var final: HTTP.Response?
    var bodyCount: Int64 = 0
    /// Bytes of content as they travelled, and how many had at the end of the last turn.
    var rawCount: Int64 = 0
    private var toldRawCount: Int64 = 0
    /// How much of the head had come when that was told.
    private var toldHeadCount = 0
    var decoder: (any ContentDecoder)?
    /// Why a callback stopped the transfer.
    var stop: HTTPTransferFailure<CurlError>?

    /// Whether libcurl may answer a challenge of the server by itself.
    let answersChallenges: Bool
    /// Whether libcurl sends the request without its content first, to be challenged, and has not heard of that yet.
    var probes: Bool

    var isHeldBack = false
    /// Whether libcurl was told to keep what it receives.
    var isReceivingPaused = false {
        didSet {
            guard isReceivingPaused != oldValue else { return }
            holdSocketBack(isReceivingPaused)
            guard CurlLibrary.shared.hasOldHTTP2, stream != nil, let ends else { return }
            turn.held.paused(isReceivingPaused, at: ends)
        }
    }
    var isSendingPaused = false {
        didSet {
            guard isSendingPaused != oldValue, CurlLibrary.shared.pausesBothWays else { return }
            turn.waitingForContent[id] = isSendingPaused && stream != nil ? self : nil
        }
    }
    /// The request's content, if it has any.
    let content: RequestContent?
    /// Whether content went out that is to be told.
    var hasSentInTurn = false

    init(_ control: TransferControl, line: ConnectionQueue.Line, turn: Turn, at now: MonotonicInstant) {
        let hop = control.hop
        self.control = control
        self.line = line
        self.turn = turn
        enqueuedAt = now
        buffers = turn.buffers.take(limits: hop.options.limits)
        (head, body) = (buffers.head, buffers.body)
        peers = TLSPeers(origin: .init(hop.trust), proxy: nil)
        content = hop.hasContent ? RequestContent(hop) : nil
        asksFirst = hop.asksFirst
        answersChallenges = TransferPlan.digestCredentials(of: hop) != nil
        probes = answersChallenges && !(content?.isNone ?? true)
    }

    deinit { turn.buffers.keep(buffers) }

    /// Forgets what came of the connection that was of no use.
    func startOver() {
        if head.hasBegun { sends = 0 } else if isConnected, isVouchedFor { sends -= 1 }
        needsOtherConnection = false
        hasTaught = false
        joinsHTTP2 = false
        openedSockets = []
        (unixEnds, socket) = (nil, nil)
        (ends, stream, isReused) = (nil, nil, false)
        (isConnected, speaksHTTP2, isSendingPaused) = (false, false, false)
        handshakes = 0
        toldHeadCount = 0
        head.startOver()
        informational = []
        final = nil
    }

    var id: ObjectIdentifier { ObjectIdentifier(control) }

    // MARK: What libcurl's callbacks report

    /// The transfer has come to another phase.
    func entered(_ phase: HTTP.Phase) {
        (self.phase, isPhaseTold) = (phase, true)
        control.sink.entered(phase)
    }

    /// The transfer is about to connect. Most find a connection before the turn ends, and have nothing to tell of this.
    func connects() {
        (phase, isPhaseTold) = (.connecting, false)
        touch()
    }

    /// A socket was opened, to connect with.
    func opened(_ descriptor: Int32) {
        openedSockets = openedSockets + [descriptor]  // Put in place whole: see Poller.
        handshakes = 0
        turn.sockets.opened(descriptor, for: id)
        entered(.connecting)
        // An attempt that fails at once has a socket that libcurl never watches.
        if !CurlLibrary.shared.triesNextAddressAtOnce { turn.betweenAddresses.append((self, descriptor)) }
    }

    /// TLS is about to be negotiated on a new connection.
    func secures(with record: TLSRecord) {
        tlsRecord = record
        handshakes += 1
        entered(.securing)
    }

    /// Whether more content may come.
    var isReceiving: Bool { !isReceivingPaused && head.contentLength.map { rawCount < $0 } ?? true }

    // MARK: What is told onwards

    @inline(__always)  // Every line of a head asks.
    func touch() {
        if !isTouched { turn.touch(self) }
    }

    /// Whether the final head has come, and what is to be told begins with it.
    var isUntold: Bool {
        final != nil && informational.isEmpty && !hasSentInTurn && control.hop.allowsWithholding
    }

    /// Takes the final head, to tell it.
    func takeFinal() -> HTTP.Response? {
        phase = .receiving
        return final.take()
    }

    /// Tells what this turn brought, in order.
    func flush(isEnding: Bool = false) {
        guard !isOver else { return }
        let sink = control.sink
        if !isPhaseTold, easy != nil { entered(phase) }
        if stream != nil, !isEnding {
            easy?.listen()
            // A fault behind what came with it is noticed when libcurl reads again.
            if CurlLibrary.shared.hasOldHTTP2, head.isComplete, isReceiving, let ends { turn.held.look(at: ends) }
        }
        if hasSentInTurn {
            sink.sent(content?.sent ?? 0)
            hasSentInTurn = false
        }
        if phase == .sending, isContentSent, !head.isComplete { entered(.waiting) }
        if head.bytesRead != toldHeadCount, !head.isComplete {
            toldHeadCount = head.bytesRead
            sink.withheld(0)
        }
        for response in informational { sink.informational(response) }
        informational = []
        if let final, !head.isChallenge || isEnding {
            phase = .receiving
            sink.head(final)
            self.final = nil
        }
        if bodyCount > Int64(body.count), control.hop.allowsWithholding { sink.withheld(bodyCount) }
        if rawCount > toldRawCount {
            toldRawCount = rawCount
            // What gives no content yet is progress all the same.
            if body.count == 0, !isEnding { sink.withheld(control.hop.allowsWithholding ? bodyCount : 0) }
        }
        guard body.count > 0 else { return }
        if isEnding || !control.hop.allowsWithholding {
            isHeldBack = !sink.body(body.take())
        } else {
            sink.withheld(bodyCount)
        }
    }
}
