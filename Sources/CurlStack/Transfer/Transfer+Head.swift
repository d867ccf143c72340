internal import NetworkStack

extension Transfer {
    /// So many informational responses are reported at once, before the turn ends.
    private static let mostInformational = 16

    /// Takes a line of a head.
    ///
    /// - Returns: Whether to go on.
    func received(headerLine line: Span<UInt8>) -> Bool {
        touch()
        let step = response.head.isChallenge ? readAfterChallenge(line) : response.head.read(line)
        if response.head.version.major >= 2, attempt.stream == nil {
            // libcurl 7.88 believes it, of every connection to the host, and would send requests into the middle of answers.
            hostQueue.hints.misstatesVersion = true
            stop = .badResponse
            return false
        }
        switch step {
        case .more:
            // From here on, a folded line continues a field of this head, which is still allocated.
            if response.head.hasField { easy?.showHeadsFirst(false) }
            return true
        case .informational:
            if let informational = response.head.response(to: control.hop.request) {
                response.informational.append(informational)
            }
            // A server may send thousands in one turn.
            if response.informational.count == Self.mostInformational { flush() }
            return true
        case .final: return receivedHead()
        // There is no body whose framing it could break (RFC 9112 section 6.1).
        case .refused(.judged(.transferEncoding)) where !hasBody: return true
        case .refused(let fault):
            stop = failure(of: fault)
            return false
        }
    }

    /// The final head is there.
    private func receivedHead() -> Bool {
        let head = response.head
        if head.status == .expectationFailed, request.awaitsContinue {
            sendAgainWithoutExpectation()
            return false
        }
        if head.status == .unauthorized, answerChallenge() { return false }
        if request.awaitsChallenge, sendAgainAfterProbe() { return false }
        response.final = head.response(to: control.hop.request)
        if decodesBody { response.final?.decodedFrom = head.contentCodings }
        // libcurl would keep the connection, and speak HTTP/1.0 itself on it, which knows no chunks.
        if head.version == .http1_0 { easy?.closeConnection() }
        if attempt.stream != nil, hasBody {
            hostQueue.hints.announcesLengths = hostQueue.hints.announcesLengths ?? true && head.contentLength != nil
        }
        if let body = request.body { context.bodies.answers(body.sent) }
        head.isChallenge = request.answersChallenges && head.status == .unauthorized
        request.hasAnsweredChallenge = false
        return true
    }

    /// Whether the body is not delivered as the server sends it.
    private var decodesBody: Bool {
        let codings = response.head.contentCodings
        return !codings.isEmpty && control.hop.options.decompresses && hasBody
            && ContentCoding.unknown(in: codings) == nil
    }

    private func failure(of fault: HeadReader.Fault) -> HTTPTransferFailure<CurlError> {
        switch fault {
        case .noStatus: .badResponse
        case .tooLong: .headTooLarge(limit: control.hop.options.limits.head)
        case .tooManyFields: .tooManyFields(limit: control.hop.options.limits.headFields)
        case .continuesNothing: .transport(.continuesNothing)
        case .judged(let fault): .transport(.malformedResponse(fault.description))
        }
    }
}

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

    /// Answers a Digest challenge that libcurl cannot answer: the request is sent again with ``DigestAnswer``.
    ///
    /// - Returns: Whether the request is to be sent again.
    private func answerChallenge() -> Bool {
        guard let credentials = TransferPlan.digestCredentials(of: control.hop) else { return false }
        let (hop, head) = (control.hop, response.head)
        let candidates = DigestAnswer.candidates(in: head.headers, afterAnswer: request.answer != nil)
        let answers = candidates.lazy.filter { [request] in request.mayAnswer($0) }.compactMap {
            DigestAnswer(
                to: $0,
                credentials,
                method: hop.request.method.rawValue,
                target: TransferPlan.originForm(of: hop.urlText)
            )
        }
        guard let answer = answers.first, request.rewind() else { return false }
        if let challenge = head.response(to: hop.request) { response.informational.append(challenge) }
        flush()
        request.answers(hop.authorized(by: answer.field))
        attempt.restart = .atOnce
        return true
    }

    /// Has the request sent again on another connection, if its body can be sent again.
    private func sendAgain() {
        if request.rewind() { attempt.restart = .atOnce } else { stop = .bodyNotReplayable }
    }
}
