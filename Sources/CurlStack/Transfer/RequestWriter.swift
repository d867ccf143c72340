internal import NetworkStack

/// The request's side of a transfer: its body, and what that waits for.
struct RequestWriter {
    /// The request's body, if it has any.
    let content: RequestContent?
    /// Whether libcurl may answer a challenge of the server by itself.
    let answersChallenges: Bool
    /// Whether the body waits for the server to ask for it (`Expect: 100-continue`).
    var awaitsContinue: Bool
    /// Whether libcurl sends the request without its body first, to be challenged, and no response to that has come.
    var awaitsChallenge: Bool
    /// Whether the server's challenge has been answered once.
    var hasAnsweredChallenge = false
    /// Whether libcurl waits for more of the body.
    var isPaused = false
    /// Whether some of the body went out that the sink does not know of.
    var hasSentInTurn = false

    init(_ hop: HTTPHop) {
        content = hop.hasContent ? RequestContent(hop) : nil
        answersChallenges = TransferPlan.digestCredentials(of: hop) != nil
        awaitsContinue = hop.asksFirst
        awaitsChallenge = answersChallenges && !(content?.isNone ?? true)
    }

    /// Whether all of the body went out, if there is any.
    var isSent: Bool { content?.isSent ?? true }

    /// Goes back to the body's first byte, if any of it was asked for.
    ///
    /// - Returns: Whether the body can be sent from its beginning.
    func rewind() -> Bool {
        guard let content, content.hasBegun else { return true }
        return content.rewind()
    }
}
