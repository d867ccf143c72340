internal import NetworkStack

extension Transfer {
    /// So many informational responses are reported at once, before the turn ends.
    private static let mostInformational = 16

    /// Takes a line of a head.
    ///
    /// - Returns: Whether to go on.
    func received(headerLine line: Span<UInt8>) -> Bool {
        touch()
        let head = response.head
        let step = head.isChallenge ? readAfterChallenge(line) : head.read(line)
        if head.version.major >= 2, attempt.stream == nil {
            // libcurl 7.88 believes it, of every connection to the host, and would send requests into the middle of answers.
            hostQueue.hints.misstatesVersion = true
            stop = .badResponse
            return false
        }
        switch step {
        case .more:
            // From here on, what libcurl would add a folded line to is of this head, and there.
            if head.hasField { easy?.showHeadsFirst(false) }
            return true
        case .informational:
            if let informational = head.response(to: control.hop.request) {
                response.informational.append(informational)
            }
            // A server may send thousands in one turn.
            if response.informational.count == Self.mostInformational { flush() }
            return true
        case .final: return receivedHead()
        // Of content that does not come (RFC 9112 section 6.1).
        case .refused(.judged(.transferEncoding)) where !hasContent: return true
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
        if request.awaitsChallenge, sendAgainAfterProbe() { return false }
        response.final = head.response(to: control.hop.request)
        if decodesContent { response.final?.decodedFrom = head.contentCodings }
        // libcurl would keep the connection, and speak HTTP/1.0 itself on it, which knows no chunks.
        if head.version == .http1_0 { easy?.closeConnection() }
        if attempt.stream != nil, hasContent {
            hostQueue.hints.announcesLengths = hostQueue.hints.announcesLengths ?? true && head.contentLength != nil
        }
        if let content = request.content { turn.content.answers(content.sent) }
        head.isChallenge = request.answersChallenges && head.status == .unauthorized
        request.hasAnsweredChallenge = false
        return true
    }

    /// Whether what is delivered of the content is not what the server sends.
    private var decodesContent: Bool {
        let codings = response.head.contentCodings
        return !codings.isEmpty && control.hop.options.decompresses && hasContent
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
