internal import FoundationEssentials

/// The checks of a final head.
extension HTTPReportedTransfer {
    /// Notes a final head.
    ///
    /// - Parameters:
    ///   - response: The head.
    ///   - fields: Its fields as received.
    /// - Returns: Why it is refused, or `nil`.
    func accept(_ response: HTTP.Response, _ fields: [HTTP.Headers.Field]) -> HTTPTransferFailure<Failure>? {
        let size = fields.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4 }
        let limits = hop.options.limits
        if size > limits.head { return .headTooLarge(limit: limits.head) }
        if fields.count > limits.headFields { return .tooManyFields(limit: limits.headFields) }
        var judge = HeadJudge()
        judge.begin(response.version)
        let hasBody = hasBody(response)
        for field in fields {
            let fault = judge.read(Array("\(field.name): \(field.value)".utf8).span)
            if let fault, hasBody || fault == .noField { return .transport(malformed(fault.description)) }
        }
        let named = hasBody && hop.options.decompresses ? judge.contentCodings : []
        let isDecoded = named.count == 1 && codings.contains(named[0].lowercased())
        var head = response
        if isDecoded { head.decodedFrom = named }
        state.withLock { state in
            state.head = head
            state.metrics.firstByte = .now - started
            state.metrics.headBytesReceived = Int64(size)
            if isDecoded { state.encodedLength = judge.contentLength }
            if !isDecoded, !hop.options.passesUnknownCodings {
                state.unknownCoding = named.first { !codings.contains($0.lowercased()) } ?? named.first
            }
        }
        return nil
    }
}

/// A transfer with the error of transports that have none themselves.
extension HTTPReportedTransfer<HTTPTransferError> {
    /// Makes the transfer of a hop that starts now.
    ///
    /// - Parameters:
    ///   - hop: The hop.
    ///   - sink: Receives the events. It is released at the end.
    ///   - codings: The content codings that the library decodes, in lower case. A body in several is not decoded.
    public convenience init(
        _ hop: HTTPHop,
        to sink: any HTTPTransferSink<HTTPTransferError>,
        decoding codings: Set<String>
    ) {
        self.init(hop, to: sink, decoding: codings) { HTTPTransferError(.malformed, during: .receiving, $0) }
    }

    /// The library has failed. The error's phase is that of the kind, or else the one that was entered last.
    ///
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - description: The failure, in a sentence without secrets.
    public func failed(_ kind: HTTP.FailureKind, _ description: String) {
        let phase: HTTP.Phase? =
            switch kind {
            case .dns: .resolving
            case .connect: .connecting
            case .tls: .securing
            default: hasHead ? .receiving : phase
            }
        failed(.transport(HTTPTransferError(kind, during: phase, description)))
    }
}
