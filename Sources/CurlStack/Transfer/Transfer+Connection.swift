internal import CCurl
internal import NetworkStack

extension Transfer {
    /// libcurl has no use for a socket any more. If nothing was connected by it, there may be another address to connect to.
    func lostSocket() {
        if phase == .connecting { turn.retryingConnect.append((self, nil)) }
    }

    /// Whether something will come of a socket that the transfer has opened.
    func isWatched(_ socket: Int32?) -> Bool {
        guard let socket, let easy else { return false }
        return turn.connections.isOpen(socket, for: id) && easy.multi.isWatched(socket)
    }

    /// The connection is ready and the request is about to be sent.
    ///
    /// A server (or an intermediary) that sent an answer ahead of the question would have it taken for this one's:
    /// libcurl 7.88 does not look, so a connection with bytes waiting is not used.
    ///
    /// - Returns: Whether to send it on this connection.
    func connected(at endpoints: EndpointPair) -> Bool {
        guard let easy else { return false }
        let endpoints = attempt.unixEndpoints ?? endpoints
        let known = turn.connections[endpoints]
        // libcurl may have begun anew by itself, with nothing paused.
        pauseSending(false)
        guard maySend() else { return false }
        sends.isRepetition = isRepetition
        let isVouchedFor = sends.isRepetition && isVouchedFor
        // The server has answered with a challenge.
        if attempt.isConnected, !sends.isRepetition { sends.unanswered = 0 }
        if sends.isRepetition {
            sends.restarts += 1
            // libcurl before 8.7 goes back to the first byte only if some of what it took went out.
            guard request.rewind() else {
                stop = .bodyNotReplayable
                return false
            }
        }
        request.hasAnsweredChallenge = response.head.isChallenge
        let startsWithHTTP2 = control.hop.options.version == .http2PriorKnowledge
        // Otherwise libcurl need not be asked what TLS the connection has.
        let mayUseTLS = control.hop.isSecure || easy.route?.proxy.scheme == .https
        if attempt.openedSockets.isEmpty && !startsWithHTTP2 && isSpent(easy, known, mayUseTLS: mayUseTLS) {
            attempt.restart = .atOnce
            return false
        }
        if isInUnfinishedTunnel(easy, known) {
            attempt.restart = .afterTunnel
            return false
        }
        if isMisledByPriorKnowledge(known) || mayBeAmongAnswers {
            attempt.restart = .atOnce
            return false
        }
        attempt.tlsRecord = mayUseTLS ? easy.tlsRecord ?? notedRecord(of: known) : nil
        if let refusal = refusalOfServer() {
            stop = .untrusted(refusal)
            return false
        }
        reportProxy()
        attempt.isReused = attempt.openedSockets.isEmpty
        let connection: Connection
        if attempt.isReused {
            connection = known ?? turn.connections.withoutSocket(at: endpoints)
        } else {
            connection = easy.multi.connected(
                attempt.openedSockets,
                of: id,
                at: endpoints,
                to: control.hop.origin,
                securedAs: attempt.tlsRecord,
                mayUseTLS ? easy.negotiatedTLS : nil
            )
            attempt.openedSockets = []
        }
        attempt.connection = connection
        attempt.speaksHTTP2 = (control.hop.isSecure ? easy.negotiatedHTTP2 : nil) ?? startsWithHTTP2
        if attempt.speaksHTTP2, let failure = control.hop.failureOfLongHead(overHTTP2: true) {
            stop = failure
            return false
        }
        // Others that are kept may be dead, too, and would cost a repetition each.
        if sends.unanswered > 0, attempt.isReused, !attempt.speaksHTTP2 {
            (sends.needsFreshConnection, attempt.restart) = (true, .atOnce)
            return false
        }
        if attempt.speaksHTTP2, attempt.isReused, sends.restarts < 5, connection.hasReachedResetLimit {
            sends.restarts += 1
            easy.closeConnection()
            attempt.restart = .atOnce
            return false
        }
        if attempt.speaksHTTP2, !attempt.isReused, !mayUseTLS { guardAgainstFloods(on: connection) }
        attempt.stream = attempt.speaksHTTP2 && !control.opensOnly ? connection.openStream() : nil
        if listensFromStart { easy.listen() }
        if attempt.speaksHTTP2 { easy.keepConnection() }
        easy.readPastLength(attempt.speaksHTTP2 && control.hop.wantsTrailers)
        attempt.isConnected = true
        if attempt.stream != nil {
            turn.held.waits(on: connection)
            // The response may be read in the call that sends the request.
            if turn.quirks.contains(.unreadHTTP2Fault) { turn.held.mayHideFault(on: connection) }
        }
        touch()
        if control.opensOnly {
            easy.stopWhenConnected(true)
            return true
        }
        sends.noteSend(isVouchedFor: isVouchedFor)
        entered(request.isSent ? .waiting : .sending, on: connection)
        waitToBeAsked()
        return true
    }

    /// Whether verbose text is read from the start, and not only once the turn is over: libcurl may read a GOAWAY in the call in which
    /// it sends the request. That matters for a body without a length, and for a request that may not be sent twice. Other requests
    /// are spared the formatting.
    private var listensFromStart: Bool {
        attempt.stream != nil
            && !(hostQueue.hints.announcesLengths ?? false && attempt.isReused
                && control.hop.request.method.isIdempotent)
    }

    /// Whether a kept connection is of no use: something waits on it, or its end, or its server is about to close it.
    private func isSpent(_ easy: EasyHandle, _ connection: Connection?, mayUseTLS: Bool) -> Bool {
        if connection?.isOverdue ?? false { return true }
        guard mayUseTLS, easy.speaksTLS else { return easy.multi.canRead(connection) }
        return easy.isSpent(on: easy.multi.canRead(connection) ? connection?.descriptor : nil)
    }

    /// A connection of HTTP/2 in the clear was opened. Newer versions of libcurl come back from a flood by themselves.
    private func guardAgainstFloods(on connection: Connection) {
        guard turn.quirks.contains(.endlessHTTP2Read), let descriptor = connection.descriptor else { return }
        turn.connections.floods.opened(descriptor)
    }

    /// Whether the transfer was to join a connection that speaks HTTP/2 already, and got one that does not: a kept one of
    /// HTTP/1.1, or a fresh one on which libcurl does not begin HTTP/2.
    private func isMisledByPriorKnowledge(_ connection: Connection?) -> Bool {
        let isFresh = !attempt.openedSockets.isEmpty
        let isOther =
            isFresh ? turn.quirks.contains(.restartedPriorKnowledge) : connection.map { !$0.hasStreams } ?? false
        guard attempt.joinsHTTP2, isOther else { return false }
        attempt.joinsHTTP2 = false
        return true
    }

    /// Whether another transfer still opens the connection: libcurl 7.88 lets streams join one to an HTTP proxy as soon as that
    /// takes it, before there is a tunnel or TLS.
    private func isInUnfinishedTunnel(_ easy: EasyHandle, _ connection: Connection?) -> Bool {
        guard attempt.openedSockets.isEmpty, let proxy = easy.route?.proxy, proxy.scheme.isHTTP else { return false }
        return connection?.descriptor == nil
    }

    /// Whether the transfer has a connection that it does not share. One that opens a connection in advance has no stream.
    var isAloneOnConnection: Bool { attempt.isConnected && !attempt.speaksHTTP2 }

    /// Whether the transfer is a stream of this connection.
    func shares(_ connection: Connection?) -> Bool { attempt.stream != nil && attempt.connection === connection }

    /// Whether libcurl has still to choose a connection for the transfer, and may choose that of another, which is a stream's.
    func isAboutToJoin(_ other: Transfer) -> Bool {
        hostQueue === other.hostQueue && easy != nil && !attempt.isConnected
    }

    /// Whether another's answer may be under way on the connection: the host has answered with HTTP/2 over HTTP/1.1 while
    /// libcurl was free to speak it, and libcurl shares its connections.
    private var mayBeAmongAnswers: Bool { hostQueue.hints.misstatesVersion && attempt.mayNegotiateHTTP2 }

    /// Whether libcurl is to send the request again, which is not the answer to a challenge.
    private var isRepetition: Bool {
        attempt.isConnected && !(response.head.isChallenge && !request.hasAnsweredChallenge)
    }

    /// Whether libcurl may open a connection: none after one of HTTP/2 on which the request may have been dealt with. After one
    /// of HTTP/1.1, the outcome of the attempt decides what is reported.
    func mayConnect() -> Bool {
        guard attempt.restart == nil, attempt.stream == nil || maySend() else { return false }
        guard isToShareAnother else { return true }
        guard request.rewind() else {
            stop = .bodyNotReplayable
            return false
        }
        sends.restarts += 1
        attempt.restart = .atOnce
        turn.failedOnResume.append((self, nil))
        return false
    }

    /// Whether the transfer's connection would be its own, and of no use if that is to join one that speaks HTTP/2, where the
    /// connection that it shared has gone, or was gone: one opens another for all (``ConnectionQueue``).
    private var isToShareAnother: Bool {
        guard hostQueue.isMultiplexed, hostQueue.host.isShared, sends.restarts < 5 else { return false }
        return attempt.stream != nil || attempt.joinsHTTP2 && turn.quirks.contains(.restartedPriorKnowledge)
    }

    /// Whether the request may be sent on the connection that libcurl has chosen.
    private func maySend() -> Bool {
        guard isRepetition else { return true }
        // What is reset for want of HTTP/1.1 (RFC 9113 section 7) libcurl asks for once more, whatever of the answer has come.
        if response.head.hasBegun, !response.head.isChallenge {
            stop = .transport(ended(.http2Stream, "The stream was reset within its response."))
            return false
        }
        return maySendAgain()
    }

    /// Whether the request may be sent once more: the kept connection it was sent on died without an answer, and libcurl
    /// would repeat whatever it was. A request that is not idempotent might then take effect twice (RFC 9110 section 9.2.2), unless
    /// nothing of it went out, or the server did not deal with its stream.
    private func maySendAgain() -> Bool {
        guard !control.hop.request.method.isIdempotent, let easy, easy.hasSentRequest, !isVouchedFor else {
            return true
        }
        stop = .transport(
            ended(
                .gotNothing,
                "The connection ended without a response; a \(control.hop.request.method) is not sent again by itself."
            )
        )
        return false
    }

    /// Whether the server has declared that it did not process the request as it was sent last.
    var isVouchedFor: Bool { isUnprocessed || isRefused }

    /// Whether the server has sent GOAWAY, and did not process the stream.
    var isUnprocessed: Bool {
        guard let stream = attempt.stream else { return false }
        return attempt.connection?.lastStream.map { $0 < stream } ?? false
    }

    /// Whether libcurl sends a request again because the server refused its stream, which leaves no words behind. A kept
    /// connection that died may look the same, and so may one whose answer makes no sense.
    var isRefused: Bool {
        guard attempt.stream != nil, let easy, !easy.hasErrorMessage else { return false }
        return !attempt.isReused || !turn.quirks.contains(.deathLikeRefusal)
    }

    /// Whether a transfer that failed is to be carried once more, on another connection: nothing of an answer came, and
    /// either the server has declared that it did not process the stream, or the connection was a kept one and what was
    /// asked may be done twice. libcurl does so by itself, five times.
    ///
    /// The server may deal with a few streams of each connection only, and leave the rest of a hundred to the next one, also where
    /// its GOAWAY was not read. A transfer that opens a connection gives up sooner.
    func isCarriedAgain(after code: CURLcode) -> Bool {
        guard attempt.isConnected, code != CURLE_OK, stop == nil, !response.head.hasBegun, !control.opensOnly,
            sends.restarts < (attempt.isReused ? 100 : 5)
        else { return false }
        switch CurlError.Code(rawValue: Int32(bitPattern: code.rawValue)) {
        case .http2, .http2Stream, .partialFile, .receiveError, .sendError, .gotNothing: break
        default: return false
        }
        let isHarmless = attempt.isReused && control.hop.request.method.isIdempotent && code != CURLE_HTTP2_STREAM
        guard isUnprocessed || isHarmless else { return false }
        guard request.rewind() else { return false }
        sends.restarts += 1
        return true
    }

    /// Takes a line of libcurl's verbose text (``DebugText``).
    func read(debugText text: Span<UInt8>) {
        let readsConnections = easy?.settings.namesConnections ?? false
        guard readsConnections || attempt.connection != nil, let note = DebugText(text) else { return }
        switch note {
        case .connection(let number) where readsConnections:
            attempt.unixEndpoints = EndpointPair(number: number, pool: place.slot ?? 0)
        case .connection: break
        case .retry: attempt.isBetweenConnections = true
        // While libcurl looks for another connection, the text is about whichever connection it looks at.
        case .goAway(let goAway):
            if !attempt.isBetweenConnections { attempt.connection?.goAway = goAway }
        }
    }
}
