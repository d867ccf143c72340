internal import CCurl
internal import NetworkStack

/// Decides whether a request that went out may be sent again.
extension Transfer {
    /// Sets the body to its first byte.
    func rewindBody() throws(Obstacle) {
        guard request.rewind() else { throw .failure(.bodyNotReplayable) }
    }

    /// Checks that the request may be sent again. libcurl would repeat any request, if its kept connection died without a response, or if
    /// its stream was reset with HTTP_1_1_REQUIRED (RFC 9113 section 7), even within the response. A request that is not idempotent might
    /// then take effect twice (RFC 9110 section 9.2.2), unless nothing of it was sent, or the server did not process its stream. libcurl
    /// counts only its own repetitions; the transfer may have started over before.
    func checkRepetition() throws(Obstacle) {
        if response.head.hasBegun, !response.head.isChallenge {
            throw .failure(.transport(connectionError(.http2Stream, "The stream was reset within its response.")))
        }
        guard attempt.isReused || sends.restarts < SendHistory.mostRestarts else {
            let message = "The request was sent \((sends.resends ?? 0) + 1) times, and is not sent again."
            throw .failure(.transport(connectionError(.http2, message)))
        }
        let method = control.hop.request.method
        guard !method.isIdempotent, let easy, easy.hasSentRequest, !isKnownUnprocessed else { return }
        let message = "The connection ended without a response; a \(method) is not sent again by itself."
        throw .failure(.transport(connectionError(.gotNothing, message)))
    }

    /// Whether the server has declared that it did not process the request as it was sent last.
    var isKnownUnprocessed: Bool { isExcludedByGoAway || isRefused }

    /// Whether the server has sent GOAWAY, and did not process the stream.
    var isExcludedByGoAway: Bool {
        guard let stream = attempt.stream else { return false }
        return attempt.connection?.lastStream.map { $0 < stream } ?? false
    }

    /// Whether libcurl sends a request again because the server refused its stream. libcurl has no error message for that. A kept
    /// connection that died may look the same, and so may one with a broken response.
    private var isRefused: Bool {
        guard attempt.stream != nil, let easy, !easy.hasErrorMessage else { return false }
        return !attempt.isReused || !context.quirks.contains(.deathLikeRefusal)
    }

    /// Prepares a failed transfer to start over on another connection, if it may: no response has begun, and either the server has declared
    /// that it did not process the stream, or the connection was a kept one and the request is idempotent. libcurl itself repeats such a
    /// request five times.
    ///
    /// A server may process only a few streams on each connection, so a stream on a kept connection may start over more often.
    ///
    /// - Returns: Whether it may. Then its body is at its first byte.
    func prepareToStartOver(after code: CURLcode) -> Bool {
        guard attempt.isConnected, stop == nil, !response.head.hasBegun, !control.opensOnly,
            sends.restarts < (attempt.isReused ? SendHistory.mostRestartsOnKept : SendHistory.mostRestarts)
        else { return false }
        switch CurlError.Code(code) {
        case .http2, .http2Stream, .partialFile, .receiveError, .sendError, .gotNothing: break
        // Before 8.8, libcurl decodes a proxy's credentials again when it looks for another connection, and fails at `%00`.
        case .urlMalformed where easy?.route?.proxy.credentials != nil: break
        default: return false
        }
        let isHarmless = attempt.isReused && control.hop.request.method.isIdempotent && code != CURLE_HTTP2_STREAM
        guard isExcludedByGoAway || isHarmless else { return false }
        guard request.rewind() else { return false }
        sends.restarts += 1
        return true
    }
}
