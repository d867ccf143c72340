internal import CCurl
internal import NetworkStack

/// The bodies of the request and of the response.
extension Transfer {
    /// Takes bytes that libcurl delivers as the response's body. It may show a head's lines here first
    /// (``EasyHandle/showHeadsFirst(_:)``).
    func received(_ bytes: RawSpan) -> Callbacks.Taken {
        guard response.head.isComplete else { return mayRead(headerLine: bytes) ? .taken : .abort }
        if response.isHeldBack || mustComeBack(after: bytes.byteCount) {
            pauseReceiving(true)
            return .pause
        }
        touch()
        // Another protocol's.
        if response.head.status == .switchingProtocols { return .taken }
        response.head.isChallenge = false  // libcurl would not deliver the body if it asked again.
        if attempt.stream != nil {
            context.connections.floods?.renew()
            noteHeldInput(bytes.byteCount)
        }
        if let failure = response.read(bytes, of: control.hop) {
            stop = failure
            return .abort
        }
        if response.rawCount > BufferedHTTP2Input.bufferSize { hostQueue.hints.sendsMuch = true }
        // libcurl may read a hundred times in one turn: a stream's reader is asked sooner whether there is room.
        if !control.hop.allowsWithholding, response.body.count >= TransferPlan.largeBuffer { flush() }
        return .taken
    }

    /// Whether libcurl has delivered so much that others must have their turn first. On a connection of HTTP/2 a pause is
    /// everybody's.
    private func mustComeBack(after count: Int) -> Bool {
        guard attempt.stream == nil, !context.bodies.spend(count) else { return false }
        context.agenda.add(.receive, for: self)
        return true
    }

    /// Notes whether the stream's buffer was full, so that libcurl may hold more. A head shares the buffer with the beginning of the
    /// body.
    private func noteHeldInput(_ count: Int) {
        guard context.quirks.contains(.heldHTTP2Input), let connection = attempt.connection else { return }
        let shared = response.rawCount == 0 ? response.head.bytesRead : 0
        context.held?.received(on: connection, fillsBuffer: shared + count >= BufferedHTTP2Input.bufferSize)
    }

    // MARK: What is sent

    /// The fields that follow the body.
    var trailers: HTTP.Headers { request.body?.trailers ?? [:] }

    /// libcurl has to send the body again, on a fresh connection.
    func rewind() -> Bool {
        if request.rewind() { return true }
        stop = .bodyNotReplayable
        return false
    }

    /// Puts the next part of the body where libcurl wants it. If the source has none yet, the transfer is not touched: reporting it would
    /// make libcurl read the connection, and ask again at once.
    func send(into place: inout MutableRawSpan) -> Callbacks.Sending {
        if request.awaitsContinue { context.agenda.drop(.sendUnasked, of: self) }
        guard let room = roomForBody(upTo: place.byteCount) else { return postpone(by: .milliseconds(5)) }
        guard let body = request.body else { return .end }
        switch body.next(upTo: room, into: &place) {
        case .bytes(let count):
            touch()
            request.hasSentInTurn = true
            return .bytes(count)
        case .end:
            touch()
            return mayHoldInput ? postpone() : .end
        case .pending:
            pauseSending(true)
            return .pause
        case .failed(let error):
            touch()
            stop = .requestBody(error)
            return .abort
        }
    }

    /// Has libcurl ask for more of the body at the end of the turn, or after a wait.
    private func postpone(by wait: Duration = .zero) -> Callbacks.Sending {
        pauseSending(true)
        context.agenda.drop(.send, of: self)
        context.agenda.add(.send, for: self, at: MonotonicTime.now + wait)
        return .pause
    }

    // MARK: HTTP/2 before libcurl 8.1

    /// How much of the body libcurl may be given now, or `nil` if it must ask again in a while: it asks although the socket cannot be written
    /// when a response comes meanwhile, or when it was paused.
    ///
    /// What it was given and the socket did not take goes out all the same, and is then sent once more if libcurl's own small
    /// frames were waiting at that moment. A socket that can be written has room for one frame of the body (Linux: a third of
    /// its buffer is free), so that is what libcurl is given.
    private func roomForBody(upTo count: Int) -> Int? {
        guard attempt.stream != nil, let connection = attempt.connection, context.quirks.contains(.repeatedHTTP2Upload)
        else {
            return count
        }
        return connection.isWritable ? min(count, BufferedHTTP2Input.bufferSize) : nil
    }

    /// Whether libcurl may hold input of the stream, which must not be there when a body without an announced length ends
    /// (``HTTPHop/needsOwnConnection``): a server may answer while it receives.
    private var mayHoldInput: Bool {
        guard let connection = attempt.connection, attempt.stream != nil, !hostQueue.host.isShared else { return false }
        return context.held?.isPossible(on: connection) ?? false
    }
}

/// What the caller wants, and what a transfer does for others on its connection.
extension Transfer {
    /// The receiver takes more.
    func resumeReceiving() {
        response.isHeldBack = false
        guard response.isPaused else { return }
        pauseReceiving(false)
        resume()
    }

    /// The source has more.
    func resumeSending() {
        guard request.isPaused else { return }
        pauseSending(false)
        resume()
    }

    /// The stack shuts down. Reports the failure, and nothing after it.
    func giveUp(_ failure: HTTPTransferFailure<CurlError>) {
        isOver = true
        control.fail(failure)
    }

    /// Has the transfer's connection send what it has buffered, for another transfer on it.
    func sendWhatIsBuffered() {
        // One that is held back stays so: what is delivered to it again is turned down again.
        if response.isPaused { resume() } else { easy?.sendWhatIsBuffered() }
    }

    /// Has libcurl go on. It asks for more of the request's body, if it waits for that, and reads what came.
    func resume() {
        guard let easy else { return }
        let code = easy.resume()
        // A transfer without a connection is not paused: libcurl fails.
        if code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT { context.unreportedFailures.append((self, code)) }
    }

    // MARK: Pauses

    /// Notes that libcurl is paused, and keeps what it receives, or no longer.
    func pauseReceiving(_ isPaused: Bool) {
        guard isPaused != response.isPaused else { return }
        response.isPaused = isPaused
        holdSocketBack(isPaused)
        guard attempt.stream != nil, let connection = attempt.connection, context.quirks.contains(.heldHTTP2Input)
        else {
            return
        }
        context.held?.paused(isPaused, on: connection)
    }

    /// libcurl waits for more of the request's body, or no longer.
    func pauseSending(_ isPaused: Bool) {
        guard isPaused != request.isPaused else { return }
        request.isPaused = isPaused
        guard context.quirks.contains(.halfPausedHTTP2) else { return }
        context.waitingForBody[id] = isPaused && attempt.stream != nil ? self : nil
    }

    /// libcurl waits for this socket, which is not read while the transfer is paused.
    func watches(_ descriptor: Int32) {
        holdSocketBack(false)
        attempt.socket = descriptor
        holdSocketBack(response.isPaused)
    }

    /// Stops reading the connection while the transfer is paused. An HTTP/2 connection is still read: its window limits the server.
    private func holdSocketBack(_ isHeldBack: Bool) {
        guard let socket = attempt.socket, attempt.stream == nil, let easy else { return }
        if !easy.multi.holdBack(socket, isHeldBack) { cannotWait() }
    }

    /// The request is about to be sent, and its body to wait for the server to ask for it.
    func waitToBeAsked() {
        guard request.awaitsContinue, attempt.stream == nil, context.quirks.contains(.lostTimer),
            let body = request.body, !body.hasBegun
        else { return }
        let wait = control.hop.options.expectContinue ?? .milliseconds(TransferPlan.usualExpectWait)
        context.agenda.add(.sendUnasked, for: self, at: MonotonicTime.now + wait)
    }
}
