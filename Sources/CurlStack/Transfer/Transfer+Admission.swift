internal import CCurl
internal import NetworkStack

/// Why the request is not sent on the connection that libcurl has chosen.
enum Obstacle: Error {
    /// The connection is of no use. The transfer starts over.
    case startOver(ConnectionAttempt.Restart)
    /// The transfer fails.
    case failure(HTTPTransferFailure<CurlError>)
}

/// Decides whether the request is sent, once or again, and on which connection.
extension Transfer {
    /// The connection is ready, and the request is about to be sent.
    ///
    /// - Returns: Whether to send it on this connection. If not, the transfer fails or starts over.
    func connected(at endpoints: EndpointPair) -> Bool {
        guard let easy else { return false }
        // libcurl may have started over by itself. Nothing is paused then.
        pauseSending(false)
        do throws(Obstacle) {
            let wasUnprocessed = try admitSend()
            let endpoints = attempt.unixEndpoints ?? endpoints
            let known = context.connections[endpoints]
            try checkState(of: known, easy)
            try checkServer(of: known, easy)
            let connection = takeConnection(known, at: endpoints, easy)
            try checkUse(of: connection, easy)
            begin(on: connection, easy, wasUnprocessed: wasUnprocessed)
            return true
        } catch {
            meet(error)
            return false
        }
    }

    /// Decides whether libcurl may open a connection for the transfer. After an HTTP/2 connection, it may not if the request must not be
    /// sent twice (``checkRepetition()``), or if one transfer connects for all (``waitsForSharedConnection``). After HTTP/1.1, the
    /// repetition is checked in ``connected(at:)``; if connecting fails before that, ``cause(of:)`` names the first failure.
    ///
    /// - Returns: Whether it may. If not, the transfer fails or starts over.
    func mayOpenConnection() -> Bool {
        guard attempt.restart == nil else { return false }
        do throws(Obstacle) {
            if attempt.stream != nil, isRepetition { try checkRepetition() }
            guard waitsForSharedConnection else { return true }
            try rewindBody()
            sends.restarts += 1
            context.startingOver.append(self)
            throw .startOver(.atOnce)
        } catch {
            meet(error)
            return false
        }
    }

    /// Has the transfer fail or start over. libcurl stops it when the callback returns.
    private func meet(_ obstacle: Obstacle) {
        switch obstacle {
        case .startOver(let restart): attempt.restart = restart
        case .failure(let failure): stop = failure
        }
    }

    // MARK: The request

    /// Whether libcurl is about to send the request again, and not to answer a challenge.
    private var isRepetition: Bool {
        attempt.isConnected && !(response.head.isChallenge && !request.hasAnsweredChallenge)
    }

    /// The request is about to be sent, perhaps again.
    ///
    /// - Returns: Whether it was sent before, and the server has declared that it did not process it.
    private func admitSend() throws(Obstacle) -> Bool {
        sends.wasRepeated = isRepetition
        if sends.wasRepeated { try checkRepetition() }
        let wasUnprocessed = sends.wasRepeated && isKnownUnprocessed
        // The server has answered with a challenge.
        if attempt.isConnected, !sends.wasRepeated { sends.unanswered = 0 }
        if sends.wasRepeated {
            sends.restarts += 1
            // libcurl before 8.7 rewinds the body only if it has sent some of what it has read.
            try rewindBody()
        }
        request.hasAnsweredChallenge = response.head.isChallenge
        return wasUnprocessed
    }

    // MARK: The connection

    /// Whether the handle asks libcurl for HTTP/2 from the first byte.
    private var startsWithHTTP2: Bool { control.hop.options.version == .http2PriorKnowledge }

    /// Whether the connection may have TLS. Otherwise libcurl need not be asked.
    private func mayUseTLS(_ easy: EasyHandle) -> Bool {
        control.hop.isSecure || easy.route?.proxy.scheme == .https
    }

    /// Checks that the connection is alive, has no unrequested bytes, and speaks the expected version.
    ///
    /// A response that a server or an intermediary has sent ahead of its request would be taken for this request's: libcurl 7.88 does
    /// not look.
    private func checkState(of known: Connection?, _ easy: EasyHandle) throws(Obstacle) {
        if attempt.openedSockets.isEmpty && !startsWithHTTP2 && isUnusable(known, easy) { throw .startOver(.atOnce) }
        if isInUnfinishedTunnel(known, easy) { throw .startOver(.afterTunnel) }
        if missesHTTP2(on: known) { throw .startOver(.atOnce) }
        if exceedsVersionLimit(known, easy) {
            // For the answer to a challenge, libcurl ignores that the connection must be fresh.
            if sends.needsFreshConnection { easy.closeConnection() }
            sends.needsFreshConnection = true
            throw .startOver(.atOnce)
        }
        // The host has answered with HTTP/2 on a connection of HTTP/1.1. libcurl then shares such connections, so another transfer's
        // response may be under way on this one.
        if hostQueue.hints.misstatesVersion && attempt.mayNegotiateHTTP2 { throw .startOver(.atOnce) }
    }

    /// Whether a kept connection is of no use: it has unread bytes, or was closed, or its server is about to close it.
    private func isUnusable(_ connection: Connection?, _ easy: EasyHandle) -> Bool {
        if connection?.isOverdue ?? false { return true }
        guard mayUseTLS(easy), easy.speaksTLS else { return easy.multi.canRead(connection) }
        return easy.isUnusable(on: easy.multi.canRead(connection) ? connection?.descriptor : nil)
    }

    /// Whether another transfer still opens the connection: libcurl 7.88 lets streams join one to an HTTP proxy as soon as that
    /// takes it, before there is a tunnel or TLS.
    private func isInUnfinishedTunnel(_ connection: Connection?, _ easy: EasyHandle) -> Bool {
        guard attempt.openedSockets.isEmpty, let proxy = easy.route?.proxy, proxy.scheme.isHTTP else { return false }
        return connection?.descriptor == nil
    }

    /// Whether the transfer was to join a connection that speaks HTTP/2 already, and got one that does not: a kept one of
    /// HTTP/1.1, or a fresh one on which libcurl does not begin HTTP/2.
    private func missesHTTP2(on connection: Connection?) -> Bool {
        guard attempt.joinsHTTP2 else { return false }
        let isFresh = !attempt.openedSockets.isEmpty
        return isFresh
            ? context.quirks.contains(.restartedPriorKnowledge) : connection.map { !$0.hasStreams } ?? false
    }

    /// Whether libcurl has chosen a connection of HTTP/2 for a request that is limited to HTTP/1.1.
    private func exceedsVersionLimit(_ connection: Connection?, _ easy: EasyHandle) -> Bool {
        guard context.quirks.contains(.ignoredVersionLimit), control.hop.versionPolicy == .http1_1 else { return false }
        return (control.hop.isSecure ? easy.negotiatedHTTP2 : nil) ?? connection?.hasStreams ?? false
    }

    /// Whether the transfer must not open a connection for itself: the shared connection of HTTP/2 is gone, and one transfer opens
    /// another for all (``ConnectionQueue``).
    private var waitsForSharedConnection: Bool {
        guard hostQueue.isMultiplexed, hostQueue.host.isShared, sends.restarts < SendHistory.mostRestarts else {
            return false
        }
        return attempt.stream != nil || attempt.joinsHTTP2 && context.quirks.contains(.restartedPriorKnowledge)
    }

    /// Checks that the server, and the proxy on the way, are those that the request may be sent to.
    private func checkServer(of known: Connection?, _ easy: EasyHandle) throws(Obstacle) {
        let usesTLS = mayUseTLS(easy)
        attempt.tlsRecord = usesTLS ? easy.tlsRecord ?? notedRecord(of: known) : nil
        // A server whose keys are pinned is judged in any case: without TLS it has proved nothing.
        if case .ordinary = control.hop.trust, !usesTLS { return }
        if let refusal = judgeServer() { throw .failure(.untrusted(refusal)) }
        reportProxy()
    }

    /// The connection is the transfer's now.
    private func takeConnection(_ known: Connection?, at endpoints: EndpointPair, _ easy: EasyHandle) -> Connection {
        attempt.isReused = attempt.openedSockets.isEmpty
        attempt.speaksHTTP2 = (control.hop.isSecure ? easy.negotiatedHTTP2 : nil) ?? startsWithHTTP2
        let connection: Connection
        if attempt.isReused {
            connection = known ?? context.connections.withoutSocket(at: endpoints)
        } else {
            let (opened, others) = context.connections.add(
                attempt.openedSockets,
                at: endpoints,
                to: control.hop.origin,
                securedAs: attempt.tlsRecord,
                mayUseTLS(easy) ? easy.negotiatedTLS : nil
            )
            easy.multi.connected(opened, besides: others, of: id)
            connection = opened
            attempt.openedSockets = []
        }
        attempt.connection = connection
        return connection
    }

    /// Checks that the request fits the connection's version of HTTP, and that the connection's earlier use does not forbid it.
    private func checkUse(of connection: Connection, _ easy: EasyHandle) throws(Obstacle) {
        if attempt.speaksHTTP2, let failure = (request.answer ?? control.hop).failureOfLongHead(overHTTP2: true) {
            throw .failure(failure)
        }
        if attempt.isReused, sends.distrusts(connection, overHTTP2: attempt.speaksHTTP2) {
            sends.needsFreshConnection = true
            throw .startOver(.atOnce)
        }
        if attempt.speaksHTTP2, attempt.isReused, sends.restarts < SendHistory.mostRestarts,
            connection.hasReachedResetLimit
        {
            sends.restarts += 1
            easy.closeConnection()
            throw .startOver(.atOnce)
        }
    }

    /// Begins the request on the connection. A connection that is opened in advance carries none.
    private func begin(on connection: Connection, _ easy: EasyHandle, wasUnprocessed: Bool) {
        if attempt.speaksHTTP2, !attempt.isReused, !mayUseTLS(easy) { guardAgainstFloods(on: connection) }
        attempt.stream = attempt.speaksHTTP2 && !control.opensOnly ? connection.openStream() : nil
        if listensFromStart { easy.listen() }
        if attempt.speaksHTTP2 { easy.keepConnection() }
        easy.readPastLength(attempt.speaksHTTP2 && control.hop.wantsTrailers)
        attempt.isConnected = true
        if attempt.stream != nil {
            let held = context.holdsInput()
            held.waits(on: connection)
            // The response may be read in the call that sends the request.
            if context.quirks.contains(.unreadHTTP2Fault) { held.mayHideFault(on: connection) }
        }
        touch()
        if control.opensOnly {
            easy.stopWhenConnected(true)
            return
        }
        sends.noteSend(wasUnprocessed: wasUnprocessed, after: context.connections.openedCount)
        entered(request.isSent ? .waiting : .sending, on: connection)
        waitToBeAsked()
    }

    /// Whether verbose text is read from the start, and not only once the turn is over: libcurl may read a GOAWAY in the call in which
    /// it sends the request. That matters for a body without a length, and for a request that may not be sent twice. Other requests
    /// are spared the formatting.
    private var listensFromStart: Bool {
        attempt.stream != nil
            && !(hostQueue.hints.announcesLengths ?? false && attempt.isReused
                && control.hop.request.method.isIdempotent)
    }

    /// A connection of HTTP/2 in the clear was opened. Newer versions of libcurl come back from a flood by themselves.
    private func guardAgainstFloods(on connection: Connection) {
        guard context.quirks.contains(.endlessHTTP2Read), let descriptor = connection.descriptor else { return }
        context.connections.guardAgainstFloods(on: descriptor)
    }
}
