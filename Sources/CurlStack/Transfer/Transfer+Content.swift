internal import NetworkStack

extension Transfer {
    /// Takes content as libcurl received it, undoes its codings and keeps it.
    func received(body bytes: RawSpan) -> Taken {
        if isHeldBack || mustComeBack(after: bytes.byteCount) {
            isReceivingPaused = true
            return .pause
        }
        touch()
        // Another protocol's.
        if head.status == .switchingProtocols { return .taken }
        head.isChallenge = false  // libcurl would not deliver the content if it asked again.
        if stream != nil { noteHeldInput(bytes.byteCount) }
        rawCount += Int64(bytes.byteCount)
        if rawCount > HeldInput.bufferSize { line.habits.sendsMuch = true }
        let isStream = !control.hop.allowsWithholding
        if !head.contentCodings.isEmpty, control.hop.options.decompresses {
            guard decode(bytes) else { return .abort }
        } else {
            let most = isStream ? Int64(TransferPlan.largeBuffer) : control.hop.options.limits.body
            guard take(bytes, expecting: Int(clamping: min(head.contentLength ?? 0, most))) else { return .abort }
        }
        // libcurl may read a hundred times in one turn: a stream's reader is asked sooner whether there is room.
        if isStream, body.count >= TransferPlan.largeBuffer { flush() }
        return .taken
    }

    /// Whether libcurl has delivered so much that others must have their turn first. On a connection of HTTP/2 a pause is
    /// everybody's.
    private func mustComeBack(after count: Int) -> Bool {
        guard stream == nil, !turn.content.spend(count) else { return false }
        turn.crowded.append(self)
        return true
    }

    /// Notes whether the stream's buffer was full, so that libcurl may hold more. A head shares the buffer with the first
    /// content.
    private func noteHeldInput(_ count: Int) {
        turn.sockets.floods.begin()
        guard CurlLibrary.shared.hasOldHTTP2, let ends else { return }
        let shared = rawCount == 0 ? head.bytesRead : 0
        turn.held.received(at: ends, fillsBuffer: shared + count >= HeldInput.bufferSize)
    }

    private func decode(_ bytes: RawSpan) -> Bool {
        if decoder == nil, let unknown = ContentCoding.unknown(in: head.contentCodings) {
            // The body of a followed redirect is discarded.
            if control.hop.options.passesUnknownCodings || control.hop.isLeftBehind(head.status, head.headers) {
                return take(bytes, expecting: 0)
            }
            stop = head.response(to: control.hop.request).map { .unknownCoding(unknown, $0) } ?? .badResponse
            return false
        }
        decoder = decoder ?? ContentCoding.decoder(for: head.contentCodings)
        guard let decoder else {
            let most = ContentCoding.mostNested
            stop = .transport(undecodable("The content has more than \(most) codings, one over the other."))
            return false
        }
        let before = bodyCount
        switch decoder.decode(bytes, { take($0, expecting: 0) && isWithinRatio() && isWithinPiece(after: before) }) {
        case .goOn: return true
        case .stopped: break
        case .corrupt: stop = .transport(undecodable("The content is not what its coding says."))
        case .excessive: stop = Self.isExcessive
        }
        return false
    }

    /// Whether decompressed content is still in proportion to what came for it. Short content is not judged.
    private func isWithinRatio() -> Bool {
        guard let ratio = control.hop.options.limits.decompressionRatio, bodyCount > 64 * 1024,
            bodyCount / Int64(ratio) > rawCount
        else { return true }
        stop = .decompressionRatio(limit: ratio)
        return false
    }

    /// Whether what one piece has become so far, after so much before it, leaves time for others, and in a stream may be kept until
    /// the reader can be asked to take it. A followed redirect's content has no other end: nobody collects it, so its limit does
    /// not stop it (``take(_:expecting:)``).
    private func isWithinPiece(after before: Int64) -> Bool {
        let count: Int64 =
            if control.hop.isLeftBehind(head.status, head.headers) {
                bodyCount
            } else {
                control.hop.allowsWithholding ? bodyCount - before : Int64(body.count)
            }
        guard count > ContentCoding.pieceLimit else { return true }
        stop = Self.isExcessive
        return false
    }

    /// libcurl delivers pieces of 16 KiB at most. Made each time: one that is kept looks like a leak to AddressSanitizer.
    private static var isExcessive: HTTPTransferFailure<CurlError> {
        .decompressionRatio(limit: ContentCoding.pieceLimit / 16_384)
    }

    private func take(_ bytes: RawSpan, expecting expected: Int) -> Bool {
        let limit = control.hop.options.limits.body
        bodyCount += Int64(bytes.byteCount)
        if control.hop.allowsWithholding, bodyCount > limit {
            // A redirect's content is nobody's; the engine knows how much of it to wait for.
            if control.hop.isLeftBehind(head.status, head.headers) { return true }
            stop = .bodyTooLarge(limit: limit)
            return false
        }
        guard body.append(bytes, expecting: expected) else {
            stop = .transport(
                CurlError(code: .outOfMemory, message: "There is no memory for the content.", phase: .receiving)
            )
            return false
        }
        return true
    }

    func undecodable(_ message: String) -> CurlError {
        CurlError(code: .badContentEncoding, message: message, phase: .receiving)
    }

    // MARK: What is sent

    /// Whether all of the request's content went out, if it has any.
    var isContentSent: Bool { content?.isSent ?? true }

    /// libcurl has to send the content again, on a fresh connection.
    func rewind() -> Bool {
        if content?.rewind() ?? true { return true }
        stop = .bodyNotReplayable
        return false
    }

    /// Puts the next content where libcurl wants it.
    func send(into place: inout MutableRawSpan) -> Sending {
        touch()
        if asksFirst { turn.asking[id] = nil }
        guard let room = roomForContent(upTo: place.byteCount) else { return postpone() }
        guard let content else { return .end }
        switch content.next(upTo: room, into: &place) {
        case .bytes(let count):
            hasSentInTurn = true
            return .bytes(count)
        case .end:
            return mayHoldInput ? postpone() : .end
        case .pending:
            isSendingPaused = true
            return .pause
        case .failed(let error):
            stop = .requestBody(error)
            return .abort
        }
    }

    /// Has libcurl ask for content again in a millisecond.
    private func postpone() -> Sending {
        isSendingPaused = true
        turn.postponed.append((self, MonotonicInstant.now.after(.zero)))
        return .pause
    }

    // MARK: HTTP/2 before libcurl 8.1

    /// How much content libcurl may be given now, or `nil` if it must ask again.
    ///
    /// What it was given and the socket did not take goes out all the same, and is then sent once more if libcurl's own small
    /// frames were waiting at that moment. A socket that can be written has room for one frame of content (Linux: a third of
    /// its buffer is free), so that is what libcurl is given.
    func roomForContent(upTo count: Int) -> Int? {
        guard stream != nil, let ends, CurlLibrary.shared.hasOldHTTP2 else { return count }
        return turn.sockets.isWritable(at: ends) ? min(count, HeldInput.bufferSize) : nil
    }

    /// Whether libcurl may hold input of the stream, which must not be there when content without an announced length ends
    /// (``HTTPHop/needsOwnConnection``): a server may answer while it receives.
    var mayHoldInput: Bool {
        guard let ends, stream != nil, !line.host.isShared else { return false }
        return turn.held.isPossible(at: ends)
    }
}
