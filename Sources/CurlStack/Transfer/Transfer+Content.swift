internal import NetworkStack

extension Transfer {
    /// Takes content as libcurl received it, undoes its codings and keeps it.
    func received(body bytes: RawSpan) -> Taken {
        if isHeldBack {
            isReceivingPaused = true
            return .pause
        }
        touch()
        head.isChallenge = false  // libcurl would not deliver the content if it asked again.
        rawCount += Int64(bytes.byteCount)
        if !head.contentCodings.isEmpty, control.hop.options.decompresses { return decode(bytes) }
        let expected = Int(clamping: min(head.contentLength ?? 0, control.hop.options.limits.body))
        return take(bytes, expecting: expected) ? .taken : .abort
    }

    private func decode(_ bytes: RawSpan) -> Taken {
        decoder = decoder ?? ContentCoding.decoder(for: head.contentCodings)
        guard let decoder else {
            stop = .transport(undecodable("The content has a coding that this process cannot undo."))
            return .abort
        }
        switch decoder.decode(bytes, { take($0, expecting: 0) && isWithinRatio() }) {
        case .goOn: return .taken
        case .stopped: return .abort
        case .corrupt:
            stop = .transport(undecodable("The content is not what its coding says."))
            return .abort
        }
    }

    /// Whether decompressed content is still in proportion to what came for it. Short content is not judged.
    private func isWithinRatio() -> Bool {
        guard let ratio = control.hop.options.limits.decompressionRatio, bodyCount > 64 * 1024,
            bodyCount / Int64(ratio) > rawCount
        else { return true }
        stop = .refused(.decompressionRatio(limit: ratio))
        return false
    }

    private func take(_ bytes: RawSpan, expecting expected: Int) -> Bool {
        let limit = control.hop.options.limits.body
        bodyCount += Int64(bytes.byteCount)
        if control.hop.allowsWithholding, bodyCount > limit {
            // A redirect's content is nobody's; the engine knows how much of it to wait for.
            if head.status?.statusClass == .redirection { return true }
            stop = .refused(.bodyTooLarge(limit: limit))
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
}
