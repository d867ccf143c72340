internal import CCurl
internal import NetworkStack

/// What the caller wants, and what a transfer does for others on its connection.
extension Transfer {
    /// The receiver takes more.
    func resumeReceiving() {
        isHeldBack = false
        guard isReceivingPaused else { return }
        isReceivingPaused = false
        resume()
    }

    /// The stack has an end. Nothing that came is told any more.
    func giveUp(_ failure: HTTPTransferFailure<CurlError>) {
        isOver = true
        control.fail(failure)
    }

    /// The source has more.
    func resumeSending() {
        guard isSendingPaused else { return }
        isSendingPaused = false
        resume()
    }

    /// Has libcurl read what came, although there is no content yet: it asks for that in vain once more.
    func receiveBesidePause() { resume() }

    /// The request is about to be sent, and its content to wait for the server to ask for it.
    func waitToBeAsked() {
        guard asksFirst, stream == nil, CurlLibrary.shared.losesTimers, let content, !content.hasBegun else { return }
        let wait = control.hop.options.expectContinue ?? .milliseconds(TransferPlan.usualExpectWait)
        turn.asking[id] = (self, MonotonicInstant.now.after(wait))
    }

    /// Leaves the connection alone while the transfer is paused. One of HTTP/2 is read on: its window holds the server back.
    func holdSocketBack(_ isHeldBack: Bool) {
        if let socket, stream == nil { easy?.watch.holdBack(socket, isHeldBack) }
    }

    private func resume() {
        guard let easy else { return }
        let code = easy.resume()
        // What has no connection is not paused, and libcurl says so.
        if code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT { turn.stopped.append((self, code)) }
    }

    /// Has the transfer's connection send what it has buffered, for another transfer on it.
    func sendWhatIsBuffered() {
        // One that is held back stays so: what is delivered to it again is turned down again.
        if isReceivingPaused { resume() } else { easy?.sendWhatIsBuffered() }
    }
}
