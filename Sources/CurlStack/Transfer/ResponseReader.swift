internal import NetworkStack

/// The response's side of a transfer: takes what libcurl delivers, decodes it, and keeps it for the sink.
///
/// When the transfer is over, the next one takes the reader, and allocates none.
final class ResponseReader {
    let head = HeadReader(limits: .init())
    let body = ByteBuffer()
    /// Informational heads, and the final one, that the sink does not know of yet.
    @safe @exclusivity(unchecked)
    var informational: [HTTP.Response] = []
    @safe @exclusivity(unchecked)
    var final: HTTP.Response?
    /// Bytes of the body, decoded.
    private(set) var bodyCount: Int64 = 0
    /// Bytes of the body as they travelled.
    private(set) var rawCount: Int64 = 0
    /// How much of the head and of the body the sink knows of.
    var reported = (head: 0, raw: Int64(0))
    private(set) var decoder: (any ContentDecoder)?
    /// Whether the receiver takes no more for now.
    var isHeldBack = false
    /// Whether libcurl is paused, and keeps what it receives.
    var isPaused = false

    /// Forgets what came, of which nothing counts.
    func startOver() {
        head.startOver()
        body.removeAll()
        (informational, final, decoder) = ([], nil, nil)
        (bodyCount, rawCount, reported) = (0, 0, (0, 0))
        (isHeldBack, isPaused) = (false, false)
    }

    // MARK: The body

    /// Takes a part of the body as libcurl received it, undoes its codings and keeps it.
    ///
    /// - Returns: Why the transfer fails, if it does.
    func read(_ bytes: RawSpan, of hop: HTTPHop) -> HTTPTransferFailure<CurlError>? {
        rawCount += Int64(bytes.byteCount)
        if !head.contentCodings.isEmpty, hop.options.decompresses { return decode(bytes, of: hop) }
        let most = hop.allowsWithholding ? hop.options.limits.body : Int64(TransferPlan.largeBuffer)
        return keep(bytes, of: hop, expecting: Int(clamping: min(head.contentLength ?? 0, most)))
    }

    private func decode(_ bytes: RawSpan, of hop: HTTPHop) -> HTTPTransferFailure<CurlError>? {
        if decoder == nil, let unknown = ContentCoding.unknown(in: head.contentCodings) {
            // The body of a followed redirect is discarded.
            if hop.options.passesUnknownCodings || hop.isFollowedRedirect(head.status, head.headers) {
                return keep(bytes, of: hop, expecting: 0)
            }
            return head.response(to: hop.request).map { .unknownCoding(unknown, $0) } ?? .badResponse
        }
        decoder = decoder ?? ContentCoding.decoder(for: head.contentCodings)
        guard let decoder else {
            let most = ContentCoding.mostNested
            let reason = "The body has more than \(most) codings, one over the other, or there is no memory for them."
            return .transport(.undecodable(reason))
        }
        let before = bodyCount
        var failure: HTTPTransferFailure<CurlError>?
        let outcome = decoder.decode(bytes) { piece in
            failure = keep(piece, of: hop, expecting: 0) ?? excess(after: before, of: hop)
            return failure == nil
        }
        return switch outcome {
        case .goOn: nil
        case .stopped: failure
        case .corrupt: .transport(.undecodable("The body does not decode by its coding."))
        case .excessive: Self.isExcessive
        }
    }

    /// Whether decoding produces too much: more than the configured ratio to the received bytes, or more than
    /// ``ContentCoding/pieceLimit`` from one received piece. Such a piece would hold up the other transfers, and a stream would have to
    /// buffer all of it. A short body is not judged. The body of a followed redirect has no other limit: nothing of it is kept.
    ///
    /// - Parameters:
    ///   - before: How much was decoded before this piece.
    ///   - hop: The hop, which has the ratio.
    /// - Returns: The failure, if it does.
    private func excess(after before: Int64, of hop: HTTPHop) -> HTTPTransferFailure<CurlError>? {
        if let ratio = hop.options.limits.decompressionRatio, bodyCount > 64 * 1024,
            bodyCount / Int64(ratio) > rawCount
        {
            return .decompressionRatio(limit: ratio)
        }
        let piece =
            if hop.isFollowedRedirect(head.status, head.headers) {
                bodyCount
            } else {
                hop.allowsWithholding ? bodyCount - before : Int64(body.count)
            }
        return piece > ContentCoding.pieceLimit ? Self.isExcessive : nil
    }

    /// libcurl delivers pieces of 16 KiB at most. Made each time: one that is kept looks like a leak to AddressSanitizer.
    private static var isExcessive: HTTPTransferFailure<CurlError> {
        .decompressionRatio(limit: ContentCoding.pieceLimit / 16_384)
    }

    private func keep(
        _ bytes: RawSpan,
        of hop: HTTPHop,
        expecting expected: Int
    ) -> HTTPTransferFailure<CurlError>? {
        let limit = hop.options.limits.body
        bodyCount += Int64(bytes.byteCount)
        if hop.allowsWithholding, bodyCount > limit {
            // The body of a followed redirect is discarded; the engine limits how much of it is drained.
            return hop.isFollowedRedirect(head.status, head.headers) ? nil : .bodyTooLarge(limit: limit)
        }
        if body.append(bytes, expecting: expected) { return nil }
        return .transport(
            CurlError(code: .outOfMemory, message: "There is no memory for the body.", phase: .receiving)
        )
    }

    // MARK: Use by one transfer after the other

    /// Readers kept ready.
    final class Pool {
        @safe @exclusivity(unchecked)
        private var kept: [ResponseReader] = []

        /// Those beyond this are freed, and so are those of long heads, and of bodies that were not taken.
        private static let most = 256
        private static let longestHead = 4096

        /// A reader of which nothing was used, for a head within these limits.
        func take(limits: HTTP.Options.Limits) -> ResponseReader {
            let reader = kept.popLast() ?? ResponseReader()
            reader.head.limits = limits
            return reader
        }

        /// Keeps a reader that no transfer has any more.
        func keep(_ reader: ResponseReader) {
            guard kept.count < Self.most, reader.head.capacity <= Self.longestHead, reader.body.capacity == 0 else {
                return
            }
            reader.startOver()
            kept.append(reader)
        }
    }
}

extension CurlError {
    /// The response is not what HTTP allows.
    static func malformedResponse(_ message: String) -> CurlError {
        CurlError(code: .weirdServerReply, message: message, phase: .receiving)
    }

    /// The first line of a head's fields continues a line that is not there (RFC 9112 section 2.2).
    static var continuesNothing: CurlError {
        malformedResponse("The response's head begins with a line that continues another.")
    }

    /// The body cannot be decoded.
    static func undecodable(_ message: String) -> CurlError {
        CurlError(code: .badContentEncoding, message: message, phase: .receiving)
    }
}
