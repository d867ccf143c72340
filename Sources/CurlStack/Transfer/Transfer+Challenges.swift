internal import NetworkStack

/// Heads that are not the answer: another follows, or the request is sent once more for one.
extension Transfer {
    /// Whether libcurl may look at a line of the head, or a piece of one, at all.
    func mayRead(headerLine piece: RawSpan) -> Bool {
        if response.head.mayFollow(piece) { return true }
        stop = .transport(.continuesNothing)
        return false
    }

    /// If another head begins, libcurl has answered the challenge, and its cookies count all the same.
    func readAfterChallenge(_ line: Span<UInt8>) -> HeadReader.Step {
        let step = response.head.read(line)
        if let challenge = response.final, !response.head.isChallenge {
            response.informational.append(challenge)
            response.final = nil
        }
        return step
    }

    /// The server does not know the expectation: the request is sent again without it (RFC 9110 section 10.1.1), on another
    /// connection, because libcurl would do so by itself and report both responses as one.
    func sendAgainWithoutExpectation() {
        request.awaitsContinue = false
        sendAgain()
    }

    /// The request was sent without its body. If the server responds with a challenge, libcurl answers it, and sends the body. If it does
    /// not, its response is none to the request, which is sent again whole: libcurl would do so by itself after a success, and report it
    /// as the same response, and take any other response for the final one.
    ///
    /// - Returns: Whether the request is to be sent again.
    func sendAgainAfterProbe() -> Bool {
        request.awaitsChallenge = false
        let head = response.head
        if head.status == .unauthorized, head.headers.challenges.contains(where: { $0.scheme == .digest }) {
            return false
        }
        sendAgain()
        return true
    }

    /// Has the request sent again on another connection, if its body can be sent again.
    private func sendAgain() {
        if request.rewind() { attempt.restart = .atOnce } else { stop = .bodyNotReplayable }
    }
}
