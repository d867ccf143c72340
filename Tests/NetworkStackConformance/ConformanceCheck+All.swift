extension ConformanceCheck {
    /// Every promise, section by section of the contract, in the order to read them in. A stack is proved by those it claims
    /// (``ConformanceSubject/claims(_:)``).
    ///
    /// A section is a folder of `Checks`, and has a line here.
    public static let all: [ConformanceCheck] = fetches + messages + protocols + connections + above

    /// How fetches begin and end.
    private static let fetches: [ConformanceCheck] = [
        contract + callbacks,  // Completion
        cancellation,
        timeouts + sendingTimeouts + interimTimeouts + endlessTimeouts + punctuality + proportions,
        failures + errorCases,  // Errors
    ].flatMap(\.self)

    /// What travels.
    private static let messages: [ConformanceCheck] = [
        methods + headers + ownHeaders + sessionHeaders + paths + refusals,  // Requests
        bodies + requestTrailers + sentForms + expectations,  // Uploads
        statuses + receivedBodies + receivedHeaders + lenientHeads + receivedFields + ranges + hints  // Responses
            + limits,
        (compression + codings).map { $0.needing(.decompression) } + compressionPieces + compressionRatios
            + compressionBombs,
        redirects,
        cookies,
        streams + downloads,
    ].flatMap(\.self)

    /// Which way it travels.
    private static let protocols: [ConformanceCheck] = [
        framing + heads + foldedHeads + unusualReplies,  // HTTP1
        http2 + faultsOfHTTP2 + openFaultsOfHTTP2 + errorsOfHTTP2 + heldFrames + stalledHTTP2 + earlyAnswers
            + awaitedTrailers,
        tls + tlsAlerts + clientIdentities + strictTransport,
        pinning,
        proxies + socksProxies + failingProxies,
    ].flatMap(\.self)

    /// What fetches of a stack share.
    private static let connections: [ConformanceCheck] = [
        keptConnections + keptAlive + deadConnections + boundedRepeats + concurrency + addresses + localSockets + floods
            + floodsInTheClear,
        stackLifetimes + finishing,  // Shutdown
        pairs + products + races + lifetimes + nameTables + processHygiene,  // Isolation
    ].flatMap(\.self)

    /// What is decided above the messages.
    private static let above: [ConformanceCheck] = [
        retries,
        authentication + digest + digestUploads + digestLimits,
        interceptors,
        metrics,
        resources + endpointParts + curlCommands,
    ].flatMap(\.self)
}
