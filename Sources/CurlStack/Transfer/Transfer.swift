internal import CCurl
internal import FoundationEssentials
internal import NetworkStack

/// The loop's side of a transfer: libcurl's callbacks write here what they see, and once per turn it is reported to the sink.
///
/// Only the loop's thread uses it, so it needs no lock.
final class Transfer: TransferCallbacks {
    let control: TransferControl
    /// The transfers to the same host.
    let hostQueue: ConnectionQueue.HostQueue
    let context: LoopContext
    /// Its place in the queue.
    @safe @exclusivity(unchecked)
    var place: QueuePlace
    /// The handle while libcurl carries the transfer.
    var easy: EasyHandle?
    /// The proxy on the way, if it speaks TLS.
    var tlsProxy: TLSPeers.Peer?
    /// The connection, and the way to it.
    @safe @exclusivity(unchecked)
    var attempt = ConnectionAttempt()
    /// How often the request was sent.
    @safe @exclusivity(unchecked)
    var sends = SendHistory()
    @safe @exclusivity(unchecked)
    var request: RequestWriter
    let response: ResponseReader
    /// Where in its life the transfer is.
    private(set) var phase = HTTP.Phase.queued
    private var isPhaseReported = true
    /// Whether ``LoopContext`` lists it, because it has something to report.
    var isTouched = false
    /// Why a callback stopped the transfer.
    var stop: HTTPTransferFailure<CurlError>?
    /// Whether its end was reported, or it was cancelled: nothing more is reported.
    var isOver = false
    /// Whether the handle may serve another transfer: this one succeeded, sent its request once, and forced no fresh connection.
    var mayKeepHandle = false

    init(_ control: TransferControl, hostQueue: ConnectionQueue.HostQueue, context: LoopContext, at now: MonotonicTime)
    {
        let hop = control.hop
        (self.control, self.hostQueue, self.context) = (control, hostQueue, context)
        place = QueuePlace(enqueuedAt: now)
        request = RequestWriter(hop)
        response = context.readers.take(limits: hop.options.limits)
        sends.needsFreshConnection = hop.needsNewConnection
    }

    deinit { context.readers.keep(response) }

    var id: ObjectIdentifier { ObjectIdentifier(control) }

    /// Whether others may join its connection now.
    var mayBeJoined: Bool {
        attempt.speaksHTTP2 && (!hostQueue.host.sharesOnceAnswered || attempt.isReused || response.head.hasBegun)
    }

    /// Begins another attempt.
    func startOver() {
        if response.head.hasBegun {
            sends.unanswered = 0
        } else if attempt.isConnected, isKnownUnprocessed {
            sends.unanswered -= 1
        }
        pauseReceiving(false)
        pauseSending(false)
        attempt = ConnectionAttempt()
        response.startOver()
    }

    // MARK: What libcurl's callbacks report

    /// The transfer has come to another phase.
    func entered(_ phase: HTTP.Phase) {
        (self.phase, isPhaseReported) = (phase, true)
        if !isOver { control.sink.entered(phase) }
    }

    /// The transfer has a connection, and enters a phase on it.
    func entered(_ phase: HTTP.Phase, on connection: Connection) {
        (self.phase, isPhaseReported) = (phase, true)
        if !isOver { control.sink.entered(phase, on: connection.facts, isReused: attempt.isReused) }
    }

    func looksUp() {
        context.connections.lookupCount += 1
        entered(.resolving)
    }

    /// The transfer is about to connect. Most find a connection before the turn ends, and do not report this.
    func connects() {
        (phase, isPhaseReported) = (.connecting, false)
        touch()
    }

    /// A socket was opened, to connect with.
    ///
    /// - Returns: Whether it may be used.
    func opened(_ descriptor: Int32) -> Bool {
        guard mayOpenConnection() else { return false }
        easy?.multi.opened(descriptor, for: id)
        attempt.openedSockets.append(descriptor)
        attempt.handshakes = 0
        entered(.connecting)
        // An attempt that fails at once has a socket that libcurl never watches.
        if context.quirks.contains(.stuckConnect) { context.agenda.add(.connect(socket: descriptor), for: self) }
        return true
    }

    /// Nothing would wake the loop for the transfer, which fails.
    func cannotWait() {
        let message = "The system has no room to wait for another socket."
        stop = .transport(CurlError(code: .outOfMemory, message: message, phase: phase))
        context.unreportedFailures.append((self, CURLE_OUT_OF_MEMORY))
    }

    /// Whether libcurl is on its way to a connection: to the first, or by itself to another after one that died.
    var isConnecting: Bool { !attempt.isConnected || !attempt.openedSockets.isEmpty }

    /// Whether the proxy demands credentials for a tunnel, and there are none. libcurl would read the rest of its response
    /// to its end, byte by byte for as long as some come, and do nothing else meanwhile.
    var isRefusedTunnel: Bool { isConnecting && easy?.proxyStatus == .proxyAuthenticationRequired }

    /// Whether more of the body may come.
    var isReceiving: Bool {
        !response.isPaused && response.head.contentLength.map { response.rawCount < $0 } ?? true
    }

    // MARK: Reporting

    func touch() {
        if !isTouched { context.touch(self) }
    }

    /// Whether the final head has come, and is the next to be reported.
    var isUnreported: Bool {
        response.final != nil && response.informational.isEmpty && !request.hasSentInTurn
            && control.hop.allowsWithholding
    }

    /// Takes the final head, to report it.
    func takeFinal() -> HTTP.Response? {
        phase = .receiving
        return response.final.take()
    }

    /// Reports what this turn brought, in order.
    func flush(isEnding: Bool = false) {
        guard !isOver else { return }
        let (sink, head) = (control.sink, response.head)
        if !isPhaseReported, easy != nil { entered(phase) }
        if attempt.stream != nil, !isEnding {
            easy?.listen()
            // A fault behind what came with it is noticed when libcurl reads again.
            if context.quirks.contains(.heldHTTP2Input), head.isComplete, isReceiving,
                let connection = attempt.connection
            {
                context.held?.look(at: connection)
            }
        }
        if request.hasSentInTurn {
            sink.sent(request.body?.sent ?? 0)
            request.hasSentInTurn = false
        }
        if phase == .sending, request.isSent, !head.isComplete { entered(.waiting) }
        if head.bytesRead != response.reported.head, !head.isComplete {
            response.reported.head = head.bytesRead
            sink.withheld(0)
        }
        for informational in response.informational { sink.informational(informational) }
        response.informational = []
        if let final = response.final, !head.isChallenge || isEnding {
            phase = .receiving
            sink.head(final)
            response.final = nil
        }
        flushBody(isEnding: isEnding)
    }

    private func flushBody(isEnding: Bool) {
        let (sink, bodyCount, waiting) = (control.sink, response.bodyCount, response.body.count)
        let isWithheld = control.hop.allowsWithholding
        if isWithheld, bodyCount > Int64(waiting) { sink.withheld(bodyCount) }
        if response.rawCount > response.reported.raw {
            response.reported.raw = response.rawCount
            // Bytes that decode to nothing yet are progress, too.
            if waiting == 0, !isEnding { sink.withheld(isWithheld ? bodyCount : 0) }
        }
        guard waiting > 0 else { return }
        if isEnding || !isWithheld {
            response.isHeldBack = !sink.body(response.body.take())
        } else {
            sink.withheld(bodyCount)
        }
    }
}

extension Transfer {
    /// libcurl has no use for a socket any more. If nothing was connected by it, there may be another address to connect to.
    func lostSocket() {
        if phase == .connecting { context.agenda.add(.connect(socket: nil), for: self) }
    }

    /// Whether something will come of a socket that the transfer has opened.
    func isWatched(_ socket: Int32?) -> Bool {
        guard let socket, let easy else { return false }
        return context.connections.isOpen(socket, for: id) && easy.multi.isWatched(socket)
    }

    /// Whether the transfer has a connection that it does not share. One that opens a connection in advance has no stream.
    var isAloneOnConnection: Bool { attempt.isConnected && !attempt.speaksHTTP2 }

    /// Whether the transfer is a stream of this connection.
    func shares(_ connection: Connection?) -> Bool { attempt.stream != nil && attempt.connection === connection }

    /// Whether libcurl has yet to choose this transfer's connection, and may choose that of `other`, which speaks HTTP/2.
    func isAboutToJoin(_ other: Transfer) -> Bool {
        hostQueue === other.hostQueue && easy != nil && !attempt.isConnected
    }

    /// Takes a line of libcurl's verbose text (``DebugText``).
    func read(debugText text: Span<UInt8>) {
        let readsConnections = easy?.settings.namesConnections ?? false
        guard readsConnections || attempt.connection != nil, let note = DebugText(text) else { return }
        switch note {
        case .connection(let number) where readsConnections:
            attempt.unixEndpoints = EndpointPair(number: number, slot: place.slot ?? 0)
        case .connection: break
        case .retry: attempt.isBetweenConnections = true
        // While libcurl looks for another connection, the text is about whichever connection it looks at.
        case .goAway(let goAway):
            if !attempt.isBetweenConnections { attempt.connection?.ends(by: goAway) }
        }
    }
}

/// The measurements of a transfer.
extension Transfer {
    /// Writes down what is known when the transfer ends.
    func measure(_ metrics: inout HTTP.Metrics) {
        metrics.queue = place.waited
        metrics.resends = sends.resends
        guard let easy else { return }
        metrics.isConnectionReused = attempt.isConnected && attempt.isReused
        if !attempt.isReused {
            metrics.resolved = easy.duration(CURLINFO_NAMELOOKUP_TIME_T)
            metrics.connected = easy.duration(CURLINFO_CONNECT_TIME_T)
            metrics.secured = easy.duration(CURLINFO_APPCONNECT_TIME_T)
        }
        metrics.firstByte = easy.duration(CURLINFO_STARTTRANSFER_TIME_T)
        if let body = request.body, !body.isNone {
            metrics.bytesSent = easy.fact(offset: CURLINFO_SIZE_UPLOAD_T)
        }
        metrics.bytesReceived = response.rawCount
        metrics.headBytesReceived = Int64(response.head.bytesRead)
        if response.decoder != nil { metrics.decodedBytes = response.bodyCount }
        if let connection = attempt.connection, !isConnecting {
            metrics.remoteAddress = connection.facts.remoteAddress
            metrics.remotePort = connection.facts.remotePort
        } else if let address = easy.remoteAddress {
            metrics.remoteAddress = address
            metrics.remotePort = easy.fact(CURLINFO_PRIMARY_PORT)
        }
        if let serverPins = attempt.serverPins {
            metrics.serverPins = serverPins.chain
            metrics.matchedPin = serverPins.matched
        }
    }
}

extension EasyHandle {
    /// A time since the start of the transfer, or `nil` if that point was not reached.
    fileprivate func duration(_ info: CURLINFO) -> Duration? {
        let microseconds = fact(offset: info)
        return microseconds > 0 ? .microseconds(microseconds) : nil
    }
}
