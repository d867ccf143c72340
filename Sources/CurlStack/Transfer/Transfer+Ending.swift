internal import CCurl
internal import NetworkStack

extension Transfer {
    /// Judges how a transfer ended, and reports it, as its last event.
    ///
    /// libcurl's own verdict is not enough: some broken replies it calls a success (`CURLE_OK`).
    func finish(_ code: CURLcode) {
        defer { isOver = true }
        var metrics = HTTP.Metrics()
        measure(&metrics)
        mayKeepHandle = code == CURLE_OK && !sends.wasRepeated && !sends.needsFreshConnection
        // A preconnection has no response from which the server could count.
        if attempt.stream == nil, !control.opensOnly {
            attempt.connection?.answered(keepAlive: response.head.keepAlive)
        }
        if leavesReset, attempt.connection?.noteReset() ?? false { hostQueue.leaveConnection() }
        if let whole = wholeResponse(code) {
            let (body, trailers) = (response.body.take(), response.head.trailers)
            return control.sink.finished(consume whole, body: body, trailers: trailers, metrics: metrics)
        }
        flush(isEnding: true)
        if let failure = failure(code) {
            control.sink.failed(failure, metrics: metrics)
        } else {
            control.sink.finished(trailers: response.head.trailers, metrics: metrics)
        }
    }

    /// The response, if it is whole and nothing of it was reported yet, which most responses are after one turn.
    private func wholeResponse(_ code: CURLcode) -> HTTP.Response? {
        guard code == CURLE_OK, stop == nil, isUnreported, incompleteness() == nil else { return nil }
        return takeFinal()
    }

    private func failure(_ code: CURLcode) -> HTTPTransferFailure<CurlError>? {
        let failure = cause(of: code)
        guard attempt.stream != nil, let connection = attempt.connection, case .transport(let error)? = failure else {
            return failure
        }
        if let reason = connection.goAway?.reason { return .transport(error.adding(reason)) }
        // Whatever libcurl calls that: the request may have been dealt with, and would be answered so again.
        guard connection.wasGivenUp, error.kind == .empty || error.kind == .truncated else { return failure }
        return .transport(connectionError(.http2, "The server broke the rules of HTTP/2. \(error.message)"))
    }

    private func cause(of code: CURLcode) -> HTTPTransferFailure<CurlError>? {
        if let stop { return stop }
        if let refusal = refusal(behind: code) { return .untrusted(refusal) }
        if code != CURLE_OK, attempt.isConnected || phase == .securing, let alert = attempt.tlsRecord?.latestAlert {
            return .transport(error(after: alert, code))
        }
        // A timeout's phase shows that the request was sent.
        if attempt.isConnected, phase.isBeforeSending, code != CURLE_OK, code != CURLE_OPERATION_TIMEDOUT,
            !control.hop.request.method.isIdempotent || reachedNoServer(code), easy?.hasSentRequest ?? false
        {
            return .transport(
                connectionError(.gotNothing, "The connection ended without a response, and there is no other.")
            )
        }
        switch CurlError.Code(code) {
        case .init(rawValue: 0): return incompleteness()
        case .http2Stream where isWhole: return incompleteness()
        case .outOfMemory where isInHead, .tooLarge where isInHead,
            .receiveError where isInHead && isTooLargeHead(code):
            return failureOfLargeHead(words(for: code))
        case .badFunctionArgument where isInHead:
            return .transport(.continuesNothing)
        case .receiveError where isLongTrailer(code), .tooLarge where isLongTrailer(code),
            .outOfMemory where isLongTrailer(code):
            return control.hop.options.limits.failureOfLongLine(beyond: Self.longestTrailer)
        case .receiveError where response.head.isChunked && words(for: code).contains("chunk"),
            .badFunctionArgument where response.head.isChunked:
            return .transport(.malformedResponse(words(for: code)))
        case .abortedByCallback where isRefusedTunnel:
            return .transport(error(.receiveError, saying: "CONNECT tunnel failed, response 407"))
        case .peerFailedVerification where attempt.tlsRecord?.lacksHostNames ?? false:
            let message = "The server's certificate names a host in its subject alone, which does not count (RFC 9525)."
            return .transport(error(.peerFailedVerification, saying: message))
        case .operationTimedOut where phase.isBeforeSending:
            return .timedOut(control.hop.options.timeouts.connect == nil ? .idle : .connect, during: phase)
        // Newer versions look at it themselves.
        case .weirdServerReply
        where response.head.status?.statusClass == .redirection && words(for: code) == "Multiple Location headers":
            return .invalidRedirect("several places at once")
        case .unsupportedProtocol where response.head.status == nil,
            .weirdServerReply where response.head.status == nil:
            return .badResponse
        case let code: return .transport(error(code))
        }
    }

    /// The most bytes of a line of the trailers that libcurl reads (`DYN_H1_TRAILER`).
    private static let longestTrailer = 4096

    private func isLongTrailer(_ code: CURLcode) -> Bool {
        response.head.isChunked && words(for: code) == "Out of memory in chunked-encoding"
    }

    private func isTooLargeHead(_ code: CURLcode) -> Bool { words(for: code).hasPrefix("Too large response headers") }

    /// Which limit of libcurl's own a head is beyond, unless it is beyond a lower one of the caller's.
    private func failureOfLargeHead(_ words: String) -> HTTPTransferFailure<CurlError> {
        let limits = control.hop.options.limits
        // `Too large response headers: 307210 > 307200`, `Too many response headers, 5000 is max`
        let numbers = words.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
        if words.hasPrefix("Too many response headers"), let limit = numbers.first {
            return .tooManyFields(limit: limit)
        }
        if words.hasPrefix("Too large response headers"), let limit = numbers.last {
            return .headTooLarge(limit: min(limit, limits.head))
        }
        return limits.failureOfLongLine()
    }

    /// Whether a code means that the request has reached no server.
    private func reachedNoServer(_ code: CURLcode) -> Bool {
        code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY
            || code == CURLE_PROXY
    }

    /// Why a server whose keys are pinned was turned down, if that is how the transfer ended. libcurl's codes do not
    /// distinguish it: the handshake gate's refusal is one of several, and the oldest error in OpenSSL's queue decides which.
    private func refusal(behind code: CURLcode) -> ServerTrustError? {
        guard code != CURLE_OK else { return nil }
        if let refusal = attempt.tlsRecord?.refusal { return refusal }
        guard let server = control.hop.trust.enforced else { return nil }
        switch code {
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return .pinVerificationFailed(
                host: server.host,
                .pinnedHashNotFound(chain: attempt.serverPins?.chain ?? [])
            )
        case CURLE_PEER_FAILED_VERIFICATION where tlsProxy == nil || attempt.handshakes > 1:
            let result = easy?.fact(CURLINFO_SSL_VERIFYRESULT) ?? 0
            return .pinVerificationFailed(
                host: server.host,
                .evaluation(verifyResult: result == 0 ? nil : result, reason: easy?.message(for: code) ?? "\(code)")
            )
        case CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION:
            return .pinningUnsupported(reason: "\(CurlLibrary.shared) refuses an option that it takes.")
        default: return nil
        }
    }

    /// What speaks against a success: the head must have ended with its blank line, and the length must be right.
    private func incompleteness() -> HTTPTransferFailure<CurlError>? {
        if control.opensOnly { return nil }
        guard response.head.isComplete else {
            guard response.head.hasBegun else {
                return .transport(connectionError(.gotNothing, "The connection ended without a response."))
            }
            return .transport(connectionError(.partialFile, "The connection ended within the response's head."))
        }
        if let length = response.head.contentLength, hasBody, response.rawCount != length {
            return .transport(
                connectionError(.partialFile, "The response ended after \(response.rawCount) of \(length) bytes.")
            )
        }
        if hasBody, response.head.contentLength == nil, isCutOff {
            return .transport(connectionError(.partialFile, "The HTTP/2 connection failed within the body."))
        }
        if let decoder = response.decoder, !decoder.isFinished {
            return .transport(.undecodable("The body ends before its coding does."))
        }
        if hasBody, isDelimitedByClose, let tlsRecord = attempt.tlsRecord, !tlsRecord.sawCloseNotify {
            return .transport(
                connectionError(
                    .partialFile,
                    "The TLS connection was cut off, and nothing else marks the end of the body."
                )
            )
        }
        return nil
    }

    /// Whether only the end of the connection would show that the body was cut off, and others hold the connection open.
    var mayBeCutOff: Bool {
        guard let connection = ambiguousConnection, hostQueue.active > 1 else { return false }
        return hasBody && response.head.contentLength == nil && !connection.isClosed && connection.lastStream == nil
    }

    /// Whether the stream did not end, but its connection. After an end in order the connection is still there, unless the server sent
    /// GOAWAY.
    private var isCutOff: Bool {
        ambiguousConnection.map { $0.isClosed && $0.lastStream == nil } ?? false
    }

    /// The connection of the stream, if libcurl takes its end for the stream's when it has itself given the connection up.
    private var ambiguousConnection: Connection? {
        attempt.stream != nil && context.quirks.contains(.ambiguousHTTP2End) ? attempt.connection : nil
    }

    /// Whether libcurl resets the stream although it has ended: before 8.1 it does where no length was announced.
    private var leavesReset: Bool {
        context.quirks.contains(.resetHTTP2Streams) && attempt.stream != nil && hasBody
            && response.head.contentLength == nil
    }

    /// The server ended TLS with a fatal alert, which is the cause of whatever libcurl met then: under TLS 1.3 the handshake may be
    /// over, and what is sent meanwhile meets a closed connection.
    private func error(after alert: TLSAlert, _ code: CURLcode) -> CurlError {
        let code = CurlError.Code(code)
        return error(
            CurlError(code: code, message: "").kind == .tls ? code : alert.code,
            saying: "The server ended TLS with the alert \(alert)."
        )
    }

    /// What libcurl reports of a failure.
    private func words(for code: CURLcode) -> String { easy?.message(for: code) ?? "\(code)" }

    /// Whether the head has begun, and has not ended.
    private var isInHead: Bool { response.head.hasBegun && !response.head.isComplete }

    /// Whether the whole response is there, although the stream ended badly after it.
    ///
    /// Without an announced length, the body is complete if libcurl has no error message: then the stream ended in order, and
    /// `CURLE_HTTP2_STREAM` means only that the rest of the request could not be sent.
    private var isWhole: Bool {
        guard response.head.isComplete else { return false }
        return response.head.contentLength.map { response.rawCount == $0 } ?? !(easy?.hasErrorMessage ?? true)
    }

    /// Whether the response is complete while the request is still being sent. Over HTTP/2 it does not depend on the rest then (RFC 9113
    /// section 8.1). libcurl 7.88 stops reading the stream, so it sees neither a WINDOW_UPDATE that allows it to send the rest, nor an
    /// RST_STREAM that stops it.
    var isAnsweredEarly: Bool {
        guard attempt.stream != nil, response.head.isComplete, !response.head.isChallenge, stop == nil, let easy,
            let body = request.body, !body.isNone
        else { return false }
        return !easy.settings.readsPastLength && (!hasBody || response.head.contentLength == response.rawCount)
    }

    /// Whether the stream ended before all of the request was sent. libcurl then leaves a reset in its buffer
    /// (``Pool/sendReset(of:beside:)``).
    var hasLeftStream: Bool { attempt.stream != nil && !request.isSent }

    /// Whether only the end of the connection shows where the body ends (RFC 9112 section 6.3).
    private var isDelimitedByClose: Bool {
        response.head.version.major < 2 && response.head.contentLength == nil && !response.head.isChunked
    }

    var hasBody: Bool {
        !control.hop.asksForHeadOnly && !(response.head.status?.neverHasBody ?? false)
    }

    /// An error of a connection on which something was sent. A phase before `.sending` is reported as `.waiting`.
    func connectionError(_ code: CurlError.Code, _ message: String) -> CurlError {
        CurlError(
            code: code,
            message: message,
            phase: phase.isBeforeSending ? .waiting : phase,
            remoteAddress: easy?.remoteAddress
        )
    }

    private func error(_ code: CurlError.Code, saying message: String? = nil) -> CurlError {
        guard let easy else { return CurlError(code: code, message: "The transfer could not be started.") }
        let systemError = Int32(truncatingIfNeeded: easy.fact(CURLINFO_OS_ERRNO))
        return CurlError(
            code: code,
            message: message ?? easy.message(for: CURLcode(UInt32(bitPattern: code.rawValue))),
            phase: phase,
            systemError: systemError == 0 ? nil : systemError,
            remoteAddress: easy.remoteAddress,
            verifyResult: code == .peerFailedVerification
                ? securesProxy
                    ? easy.fact(CURLINFO_PROXY_SSL_VERIFYRESULT) : easy.fact(CURLINFO_SSL_VERIFYRESULT)
                : nil,
            proxyStatus: isProxyFailure(code) ? easy.proxyStatus : nil,
            proxyReply: code == .proxy ? easy.fact(CURLINFO_PROXY_ERROR) : nil,
            isProxyFailure: isProxyFailure(code)
        )
    }

    /// Whether a failure with this code is the proxy's: it, too, is connected to and asked before the connection is ready.
    private func isProxyFailure(_ code: CurlError.Code) -> Bool {
        guard isConnecting, easy?.route != nil else { return false }
        switch code {
        case .couldNotResolveProxy, .proxy, .couldNotConnect, .receiveError, .sendError, .gotNothing: return true
        default: return securesProxy
        }
    }

    /// Whether the latest handshake is that of a proxy that speaks TLS, which is a connection's first.
    private var securesProxy: Bool {
        isConnecting && phase == .securing && attempt.handshakes == 1 && easy?.route?.proxy.scheme == .https
    }
}

extension EasyHandle {
    /// The status a proxy refused a tunnel with.
    var proxyStatus: HTTP.StatusCode? {
        let code = fact(CURLINFO_HTTP_CONNECTCODE)
        return code == 0 || (200...299).contains(code) ? nil : HTTP.StatusCode(code)
    }
}
