internal import FoundationEssentials
internal import NetworkStack

/// The request's side of a transfer: its body, and what that waits for.
struct RequestWriter {
    /// The request's body, if it has any.
    let body: RequestBody?
    /// Whether libcurl may answer a challenge of the server by itself.
    private(set) var answersChallenges: Bool
    /// The request with the answer to a challenge that libcurl cannot answer.
    private(set) var answer: HTTPHop?
    private var answerCount = 0
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
        body = hop.hasBody ? RequestBody(hop) : nil
        answersChallenges = TransferPlan.digestCredentials(of: hop) != nil
        awaitsContinue = hop.asksFirst
        awaitsChallenge = answersChallenges && !(body?.isNone ?? true)
    }

    /// Whether a challenge may be answered: the first one, and a few that call the last answer stale.
    func mayAnswer(_ challenge: HTTP.Challenge) -> Bool {
        let isStale = challenge.parameters["stale"]?.lowercased() == "true"
        return answerCount == 0 && !hasAnsweredChallenge || isStale && answerCount < EasyHandle.mostAnswers
    }

    /// The request is sent again with the answer to a challenge.
    mutating func answers(_ hop: HTTPHop) {
        (answer, answersChallenges, awaitsChallenge) = (hop, false, false)
        answerCount += 1
    }

    /// Whether all of the body went out, if there is any.
    var isSent: Bool { body?.isSent ?? true }

    /// Goes back to the body's first byte, if libcurl has taken any of it, or its end.
    ///
    /// - Returns: Whether the body can be sent from its beginning.
    func rewind() -> Bool {
        guard let body, body.hasBegun else { return true }
        return body.rewind()
    }
}

/// The body of a request as it goes out: from memory, or from a source that may not have it yet.
final class RequestBody {
    private let bytes: Data?
    private let source: (any HTTPBodySource)?
    /// The source, if it is a file, which is read to where it is wanted.
    private let file: FileBodySource?
    private let length: Int64?
    /// How many bytes went out, since the first one.
    private(set) var sent: Int64 = 0
    /// What the source handed over and libcurl has not taken yet.
    private var rest = Data()
    private var isExhausted = false

    /// The body of a hop that has one.
    init(_ hop: HTTPHop) {
        bytes = if case .bytes(let data) = hop.request.body { data } else { nil }
        source = hop.source
        file = hop.source as? FileBodySource
        length = hop.source == nil ? Int64(bytes?.count ?? 0) : hop.source?.length
    }

    /// Whether everything went out. libcurl does not ask again once it has as much as was announced.
    var isSent: Bool { isExhausted || sent == length }

    /// Whether there is none at all.
    var isNone: Bool { length == 0 }

    /// Whether libcurl has taken any of it, or its end.
    var hasBegun: Bool { sent > 0 || isExhausted }

    /// The fields that follow the body.
    var trailers: HTTP.Headers { source?.trailers ?? [:] }

    /// What came of asking for the next bytes.
    enum Piece {
        /// So many are there.
        case bytes(Int)
        case end
        /// There are none yet.
        case pending
        case failed(any Error)
    }

    /// Puts the next bytes, at most `count`, where they are wanted.
    func next(upTo count: Int, into place: inout MutableRawSpan) -> Piece {
        if let bytes {
            let piece = bytes.dropFirst(Int(sent)).prefix(count)
            return piece.isEmpty ? end() : taken(piece, &place)
        }
        guard !isExhausted else { return end() }
        if let file {
            switch file.next(upTo: count, into: &place) {
            case .bytes(let count): return taken(count)
            case .end: return end()
            case .failed(let error): return .failed(error)
            }
        }
        guard let source else { return end() }
        if rest.isEmpty {
            switch source.next(upTo: count) {
            case .bytes(let data): rest = data
            case .end: return end()
            case .pending: return .pending
            case .failed(let error): return .failed(error)
            }
        }
        let piece = rest.prefix(count)
        rest = rest.dropFirst(piece.count)
        return taken(piece, &place)
    }

    /// Goes back to the first byte.
    ///
    /// - Returns: Whether that is possible.
    func rewind() -> Bool {
        (sent, rest, isExhausted) = (0, Data(), false)
        return source?.rewind() ?? true
    }

    private func taken(_ piece: Data, _ place: inout MutableRawSpan) -> Piece {
        place.copy(piece)
        return taken(piece.count)
    }

    private func taken(_ count: Int) -> Piece {
        sent += Int64(count)
        return .bytes(count)
    }

    private func end() -> Piece {
        isExhausted = true
        return .end
    }
}

extension HTTPHop {
    /// Whether the request's body waits for the server to ask for it.
    fileprivate var asksFirst: Bool {
        guard hasBody else { return false }
        switch request.body {
        case .bytes(let data) where data.isEmpty: return false
        default: return options.expectContinue != nil || request.headers.contains { $0.asksForContinue }
        }
    }

    /// Why the head is too long to be sent, if it is. libcurl reports one over HTTP/1.1 as lack of memory
    /// (`DYN_HTTP_REQUEST`). Over HTTP/2 nghttp2 takes 64 KiB of fields, each with 12 bytes more, and refuses what is longer;
    /// libcurl takes that for the connection's end, and opens five others.
    func failureOfLongHead(overHTTP2: Bool = false) -> HTTPTransferFailure<CurlError>? {
        // With room for what the stack and libcurl add.
        let limit = (overHTTP2 ? 64 : 1024) * 1024 - 2048
        guard headLength > limit / 4 else { return nil }
        let length = overHTTP2 ? headLength + 8 * request.headers.count : headLength
        guard length > limit else { return nil }
        return .invalidRequest(
            """
            The request's URL and header fields have \(headLength) bytes; libcurl sends a head of up to \
            \(overHTTP2 ? "64 KiB over HTTP/2" : "1 MiB").
            """
        )
    }
}
