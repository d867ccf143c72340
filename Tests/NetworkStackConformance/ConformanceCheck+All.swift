extension ConformanceCheck {
    /// Every promise there is. A stack is proved by those it claims (``ConformanceSubject/claims(_:)``).
    public static let all: [ConformanceCheck] = conduct + messages + wires + above + classes

    /// What is decided and heard above the messages.
    private static let above: [ConformanceCheck] =
        interceptors + retries + authentication + errorCases + digest + digestUploads + digestLimits + curlCommands

    /// How fetches begin, end and share a stack.
    private static let conduct =
        contract + cancellation + timeouts + interimTimeouts + sendingTimeouts + endlessTimeouts + punctuality
        + concurrency + lifecycle
        + finishing + keptAlive + failures + streams + downloads

    /// Which way it travels.
    private static let wires: [ConformanceCheck] =
        proxies + socksProxies + failingProxies + addresses + localSockets + expectations + hints + faultsOfHTTP2
        + heldFrames + stalledHTTP2 + earlyAnswers + awaitedTrailers + deadConnections + compressionRatios
        + compressionBombs + compressionPieces + floods + openFaultsOfHTTP2 + errorsOfHTTP2 + floodsInTheClear
        + tlsAlerts + boundedRepeats + unusualReplies

    /// What travels.
    private static let messages: [ConformanceCheck] =
        methods + bodies + headers + statuses + redirects + (compression + codings).map { $0.needing(.decompression) }
        + limits
        + refusals
        + tls + pinning + http2 + resources + endpointParts + sentForms + callbacks + sessionHeaders
        + receivedFields + foldedHeads + paths + cookies + strictTransport + metrics + ranges

    /// What is checked for every member of a class: options, names, clocks, buffers, descriptors.
    private static let classes: [ConformanceCheck] =
        pairs + nameTables + proportions + products + races + lifetimes + processHygiene
}
