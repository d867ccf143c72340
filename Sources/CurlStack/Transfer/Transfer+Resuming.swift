internal import CCurl
internal import NetworkStack

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
        if code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT { turn.failedOnResume.append((self, code)) }
    }

    // MARK: Pauses

    /// Notes that libcurl is paused, and keeps what it receives, or no longer.
    func pauseReceiving(_ isPaused: Bool) {
        guard isPaused != response.isPaused else { return }
        response.isPaused = isPaused
        holdSocketBack(isPaused)
        guard turn.quirks.contains(.heldHTTP2Input), attempt.stream != nil, let connection = attempt.connection else {
            return
        }
        turn.held.paused(isPaused, on: connection)
    }

    /// libcurl waits for more of the request's body, or no longer.
    func pauseSending(_ isPaused: Bool) {
        guard isPaused != request.isPaused else { return }
        request.isPaused = isPaused
        guard turn.quirks.contains(.halfPausedHTTP2) else { return }
        turn.waitingForContent[id] = isPaused && attempt.stream != nil ? self : nil
    }

    /// libcurl waits for this socket, which is not read while the transfer is paused.
    func watches(_ descriptor: Int32?) {
        holdSocketBack(false)
        attempt.socket = descriptor
        holdSocketBack(response.isPaused)
    }

    /// Stops reading the connection while the transfer is paused. An HTTP/2 connection is still read: its window limits the server.
    private func holdSocketBack(_ isHeldBack: Bool) {
        if let socket = attempt.socket, attempt.stream == nil { easy?.multi.holdBack(socket, isHeldBack) }
    }

    /// The request is about to be sent, and its content to wait for the server to ask for it.
    func waitToBeAsked() {
        guard request.awaitsContinue, attempt.stream == nil, turn.quirks.contains(.lostTimer),
            let content = request.content, !content.hasBegun
        else { return }
        let wait = control.hop.options.expectContinue ?? .milliseconds(TransferPlan.usualExpectWait)
        turn.agenda.add(.sendUnasked, for: self, at: MonotonicTime.now + wait)
    }
}
