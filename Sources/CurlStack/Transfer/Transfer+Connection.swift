internal import CCurl
internal import NetworkStack

extension Transfer {
    /// libcurl has no use for a socket any more. If nothing was connected by it, there may be another address to connect to.
    func lostSocket() {
        if phase == .connecting { turn.betweenAddresses.append((self, nil)) }
    }

    /// Whether something will come of a socket that the transfer has opened.
    func isWatched(_ socket: Int32?) -> Bool {
        guard let socket, let easy else { return false }
        return turn.sockets.isOpen(socket, for: id) && easy.watch.isWatched(socket)
    }

    /// The connection is ready and the request is about to be sent.
    ///
    /// A server (or somebody in between) that sent an answer ahead of the question would have it taken for this one's:
    /// libcurl 7.88 does not look, so a connection with bytes waiting is not used.
    ///
    /// - Returns: Whether to send it on this connection.
    func connected(at ends: OpenSockets.Ends) -> Bool {
        guard let easy else { return false }
        // libcurl may have begun anew by itself, with nothing paused.
        isSendingPaused = false
        guard maySend() else { return false }
        wasSentAgain = isRepetition
        let isVouchedFor = wasSentAgain && isVouchedFor
        // The server has answered with a challenge.
        if isConnected, !wasSentAgain { sends = 0 }
        if wasSentAgain {
            repeats += 1
            // libcurl before 8.7 goes back to the first byte only if some of what it took went out.
            if let content, content.hasBegun, !content.rewind() {
                stop = .bodyNotReplayable
                return false
            }
        }
        hasAnsweredChallenge = head.isChallenge
        let startsWithHTTP2 = control.hop.options.version == .http2PriorKnowledge
        // Otherwise libcurl need not be asked what TLS the connection has.
        let mayUseTLS = control.hop.isSecure || easy.route?.proxy.scheme == .https
        if openedSockets.isEmpty && !startsWithHTTP2 && isSpent(easy, ends, mayUseTLS: mayUseTLS) {
            needsOtherConnection = true
            return false
        }
        meetsTunnel = isInUnfinishedTunnel(easy, ends)
        if meetsTunnel || isMisledByPriorKnowledge(ends) || mayBeAmongAnswers {
            needsOtherConnection = true
            return false
        }
        tlsRecord = mayUseTLS ? easy.tlsRecord ?? notedRecord(at: ends) : nil
        if let refusal = refusalOfServer() {
            stop = .untrusted(refusal)
            return false
        }
        reportProxy()
        isReused = openedSockets.isEmpty
        if !isReused {
            easy.watch.connected(openedSockets, of: id, at: ends, securedAs: tlsRecord)
            openedSockets = []
        }
        self.ends = ends
        speaksHTTP2 = (control.hop.isSecure ? easy.negotiatedHTTP2 : nil) ?? startsWithHTTP2
        if speaksHTTP2, let failure = control.hop.failureOfLongHead(overHTTP2: true) {
            stop = failure
            return false
        }
        // Others that are kept may be dead, too, and would cost a repetition each.
        if sends > 0, isReused, !speaksHTTP2 {
            (needsFreshConnection, needsOtherConnection) = (true, true)
            return false
        }
        if speaksHTTP2, isReused, repeats < 5, turn.sockets.isWornOut(ends) {
            repeats += 1
            easy.closeConnection()
            needsOtherConnection = true
            return false
        }
        if speaksHTTP2, !isReused, !mayUseTLS { turn.sockets.guardAgainstFloods(at: ends) }
        stream = speaksHTTP2 && !control.opensOnly ? turn.sockets.openStream(at: ends) : nil
        if mustHearAll { easy.listen() }
        if speaksHTTP2 { easy.keepConnection() }
        easy.readPastLength(speaksHTTP2 && control.hop.wantsTrailers)
        isConnected = true
        if stream != nil { turn.held.waits(at: ends) }
        touch()
        if control.opensOnly {
            easy.stopWhenConnected(true)
            return true
        }
        noteSend(isVouchedFor: isVouchedFor)
        entered(isContentSent ? .waiting : .sending)
        waitToBeAsked()
        return true
    }

    /// Whether libcurl is to say what it notices from the start, and not only once the turn is over: it may read the server's
    /// farewell in the call in which it sends the request. What hangs on that is content without a length, and what may not be
    /// sent twice. The rest is spared the formatting of its request.
    private var mustHearAll: Bool {
        stream != nil && !(line.habits.announcesLengths ?? false && isReused && control.hop.request.method.isIdempotent)
    }

    /// Whether a kept connection is of no use: something waits on it, or its end, or its server is about to close it.
    private func isSpent(_ easy: EasyHandle, _ ends: OpenSockets.Ends, mayUseTLS: Bool) -> Bool {
        if turn.sockets.isOverdue(ends) { return true }
        guard mayUseTLS, easy.speaksTLS else { return easy.watch.canRead(at: ends) }
        return easy.isSpent(on: easy.watch.canRead(at: ends) ? turn.sockets.descriptor(at: ends) : nil)
    }

    /// Whether the transfer was to join a connection that speaks HTTP/2 already, and got one that does not: a kept one of
    /// HTTP/1.1, or a fresh one that libcurl was not told to begin HTTP/2 on.
    private func isMisledByPriorKnowledge(_ ends: OpenSockets.Ends) -> Bool {
        let isFresh = !openedSockets.isEmpty
        guard joinsHTTP2, isFresh ? CurlLibrary.shared.restartsHTTP2 : turn.sockets.neverHadStreams(at: ends) else {
            return false
        }
        joinsHTTP2 = false
        return true
    }

    /// Whether another transfer still opens the connection: libcurl 7.88 lets streams join one to an HTTP proxy as soon as that
    /// takes it, before there is a tunnel or TLS.
    private func isInUnfinishedTunnel(_ easy: EasyHandle, _ ends: OpenSockets.Ends) -> Bool {
        guard openedSockets.isEmpty, let proxy = easy.route?.proxy, proxy.scheme.isHTTP else { return false }
        return turn.sockets.descriptor(at: ends) == nil
    }

    /// Whether the transfer has a connection that it shares with nobody. One that opens a connection in advance has no stream.
    var isAloneOnConnection: Bool { isConnected && !speaksHTTP2 }

    /// Whether the transfer is a stream of this connection.
    func shares(_ ends: OpenSockets.Ends?) -> Bool { stream != nil && self.ends == ends }

    /// Whether libcurl has still to choose a connection for the transfer, and may choose that of another, which is a stream's.
    func isAboutToJoin(_ other: Transfer) -> Bool { line === other.line && easy != nil && !isConnected }

    /// Whether another's answer may be under way on the connection: the host has said HTTP/2 over HTTP/1.1 since libcurl was
    /// told that it may speak it, and libcurl shares its connections.
    private var mayBeAmongAnswers: Bool { line.habits.misstatesVersion && mayNegotiateHTTP2 }

    /// Whether libcurl is to send the request again, which is not the answer to a challenge.
    private var isRepetition: Bool { isConnected && !(head.isChallenge && !hasAnsweredChallenge) }

    /// Whether libcurl may open a connection: none after one of HTTP/2 on which the request may have been dealt with. After one
    /// of HTTP/1.1, what becomes of the attempt decides what is told.
    func mayConnect() -> Bool {
        guard !needsOtherConnection, stream == nil || maySend() else { return false }
        guard isToShareAnother else { return true }
        if let content, content.hasBegun, !content.rewind() {
            stop = .bodyNotReplayable
            return false
        }
        repeats += 1
        needsOtherConnection = true
        turn.stopped.append((self, nil))
        return false
    }

    /// Whether the transfer's connection would be its own, and of no use if that is to join one that speaks HTTP/2, where the
    /// connection that it shared has gone, or was gone: one opens another for all (``ConnectionQueue``).
    private var isToShareAnother: Bool {
        guard line.isMultiplexed, line.host.isShared, repeats < 5 else { return false }
        return stream != nil || joinsHTTP2 && CurlLibrary.shared.restartsHTTP2
    }

    /// Whether the request may be sent on the connection that libcurl has chosen.
    private func maySend() -> Bool {
        guard isRepetition else { return true }
        // What is reset for want of HTTP/1.1 (RFC 9113 section 7) libcurl asks for once more, whatever of the answer has come.
        if head.hasBegun, !head.isChallenge {
            stop = .transport(ended(.http2Stream, "The stream was reset within its response."))
            return false
        }
        return maySendAgain()
    }

    /// Whether the request may be sent once more: the kept connection it was sent on died without an answer, and libcurl
    /// would repeat whatever it was. What is not idempotent might then be done twice (RFC 9110 section 9.2.2), unless
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

    /// Whether the server has said farewell, and that it did not deal with the stream.
    var isUnprocessed: Bool {
        guard let stream, let ends else { return false }
        return turn.sockets.lastStream(at: ends).map { $0 < stream } ?? false
    }

    /// Whether libcurl sends a request again because the server refused its stream, which leaves no words behind. A kept
    /// connection that died may look the same, and so may one whose answer makes no sense.
    var isRefused: Bool {
        guard stream != nil, let easy, !easy.hasErrorMessage else { return false }
        return !isReused || !CurlLibrary.shared.mistakesDeathForRefusal
    }

    /// Whether a transfer that failed is to be carried once more, on another connection: nothing of an answer came, and
    /// either the server has said that it did not deal with the stream, or the connection was a kept one and what was
    /// asked may be done twice. libcurl does so by itself, five times.
    ///
    /// The server may deal with a few streams of each connection only, and leave the rest of a hundred to the next one, also where
    /// its GOAWAY was not read. Whoever opens a connection gives up sooner.
    func isCarriedAgain(after code: CURLcode) -> Bool {
        guard isConnected, code != CURLE_OK, stop == nil, !head.hasBegun, !control.opensOnly,
            repeats < (isReused ? 100 : 5)
        else { return false }
        switch CurlError.Code(rawValue: Int32(bitPattern: code.rawValue)) {
        case .http2, .http2Stream, .partialFile, .receiveError, .sendError, .gotNothing: break
        default: return false
        }
        let isHarmless = isReused && control.hop.request.method.isIdempotent && code != CURLE_HTTP2_STREAM
        guard isUnprocessed || isHarmless else { return false }
        if let content, content.hasBegun, !content.rewind() { return false }
        repeats += 1
        return true
    }

    /// libcurl tells in passing which connection it has chosen, where that cannot be told otherwise, and what the server says
    /// of an HTTP/2 connection: `… GOAWAY, error=0, last_stream=5`.
    func heard(_ text: Span<UInt8>) {
        let tellsConnections = easy?.tellsConnections ?? false
        guard tellsConnections || ends != nil && text.count < 200 && Self.mayMatter(text) else { return }
        var bytes: [UInt8] = []
        bytes.append(text)
        if tellsConnections, let number = Self.connectionNumber(in: bytes) {
            unixEnds = OpenSockets.Ends(number: number, pool: poolNumber ?? 0)
        }
        if Self.retryMarks.contains(where: { bytes.starts(with: $0) }) { isBetweenConnections = true }
        // Then what it tells is of whichever connection it looks at.
        guard let ends, !isBetweenConnections else { return }
        // At its beginning: the fields of requests are told in passing, too, and may say anything.
        guard Self.goAwayMarks.contains(where: { bytes.starts(with: $0) }),
            let place = bytes.firstRange(of: Self.lastStreamMark)
        else { return }
        let code = bytes.firstRange(of: Self.codeMark).map { Self.number(at: $0.upperBound, in: bytes) } ?? 0
        let goAway = GoAway(lastStream: Self.number(at: place.upperBound, in: bytes), code: code)
        turn.sockets.goingAway(goAway, at: ends)
    }

    /// Whether a text begins like one of those that are looked for below, where connections are not told. Most do not.
    private static func mayMatter(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty else { return false }
        return text[0] == UInt8(ascii: "r") || text[0] == UInt8(ascii: "C") || text[0] == UInt8(ascii: "R")
    }

    /// libcurl's number of a connection: `Re-using existing connection #5 with …`, `Connected to … (#5)`.
    private static func connectionNumber(in text: [UInt8]) -> UInt32? {
        if text.starts(with: reuseMark) { return number(at: reuseMark.count, in: text) }
        guard text.starts(with: connectedMark), let place = text.lastIndex(of: UInt8(ascii: "#")) else { return nil }
        return number(at: place + 1, in: text)
    }

    private static func number(at place: Int, in text: [UInt8]) -> UInt32 {
        text[place...].prefix(while: \.isDigit).reduce(0) { $0 &* 10 &+ UInt32($1 - 0x30) }
    }

    private static let reuseMark = Array("Re-using existing connection #".utf8)
    private static let connectedMark = Array("Connected to ".utf8)
    private static let retryMarks = ["Connection died, ", "REFUSED_STREAM, "].map { Array("\($0)retrying".utf8) }
    /// libcurl 7.88 misspells it.
    private static let goAwayMarks = ["received", "recveived"].map { Array("\($0) GOAWAY, error=".utf8) }
    private static let codeMark = Array("error=".utf8)
    private static let lastStreamMark = Array("last_stream=".utf8)
}

extension HTTP.Options.Timeouts {
    /// How long connecting may take where nothing is said of it: libcurl gives half of that to an address that does not
    /// answer, and then tries the next. That is less than the idle timeout, so that there is a next; and all of it is more, as
    /// each step of connecting is progress. The engine's clocks come first. In milliseconds.
    var connectBound: Int {
        let patience = TransferPlan.milliseconds(min(idle, .seconds(86_400))) * 3 / 2
        let others = [attempt, total].compactMap { $0.map(TransferPlan.milliseconds) }
        return others.reduce(patience, min) + 500
    }
}
