import NetworkStack

extension ConformanceCheck {
    /// All checks, in reading order. A stack is tested with those that it claims (``ConformanceSubject/claims(_:)``).
    ///
    /// Each section of the contract is a folder of `Checks`, named here before its lists.
    public static let all: [ConformanceCheck] = fetches + messages + protocols + connections + above

    /// The beginning and the end of fetches.
    private static let fetches: [ConformanceCheck] = [
        // Completion
        contract, callbacks,
        // Cancellation
        cancellation,
        // Timeouts
        timeouts, sendingTimeouts, interimTimeouts, endlessTimeouts, punctuality, proportions,
        // Errors
        failures, errorCases,
    ].flatMap(\.self)

    /// Messages.
    private static let messages: [ConformanceCheck] = [
        // Requests
        methods, headers, ownHeaders, sessionHeaders, paths, refusals,
        // Uploads
        bodies, sentForms, requestTrailers.resting(on: .rfc(9110, "6.5")),
        expectations.resting(on: .rfc(9110, "10.1.1")),
        // Responses
        statuses, hints.resting(on: .rfc(8297)), receivedHeaders, lenientHeads, receivedFields,
        receivedBodies.resting(on: .rfc(9112, "6")), ranges.resting(on: .rfc(9110, "14.2")), limits,
        // Compression
        compression.map { $0.needing(.decompression) }, codings.map { $0.needing(.decompression) },
        compressionPieces, compressionRatios, compressionBombs,
        // Redirects
        redirects,
        // Cookies
        cookies.resting(on: .rfc(6265)),
        // Streams
        streams, downloads,
    ].flatMap(\.self)

    /// Protocols.
    private static let protocols: [ConformanceCheck] = [
        // HTTP1
        framing.resting(on: .rfc(9112, "6.3")), heads, foldedHeads, unusualReplies,
        // HTTP2
        http2, earlyAnswers, awaitedTrailers, heldFrames, interleavedStreams, stalledHTTP2, faultsOfHTTP2,
        openFaultsOfHTTP2.resting(on: .rfc(9113, "5.4.1")), errorsOfHTTP2,
        // TLS
        tls, tlsAlerts.resting(on: .rfc(8446, "4.4.2.4")), clientIdentities, strictTransport.resting(on: .rfc(6797)),
        // Pinning
        pinning,
        // Proxies
        proxies, socksProxies, failingProxies,
    ].flatMap(\.self)

    /// State that the fetches of a stack share.
    private static let connections: [ConformanceCheck] = [
        // Connections
        keptConnections, keptAlive, connectionAges, deadConnections, boundedRepeats, concurrency, addresses,
        localSockets, floods,
        floodsInTheClear,
        // Shutdown
        stackLifetimes, finishing,
        // Isolation
        pairs, products, races, lifetimes, nameTables, processHygiene,
    ].flatMap(\.self)

    /// Features above the messages.
    private static let above: [ConformanceCheck] = [
        // Calls
        calls, callOptions, fileCalls, eventCalls,
        // Retries
        retries, retriesKept,
        // Authentication
        authentication, digest.resting(on: .rfc(7616)), digestUploads.resting(on: .rfc(7616)),
        digestLimits.resting(on: .rfc(7616)), digestAnswers.resting(on: .rfc(7616)),
        // Interceptors
        interceptors, httpInterceptors, httpInterceptorsCancelled, httpInterceptorsOnStreams,
        httpInterceptorsErrors,
        // Metrics
        metrics, metricsOfFailures, gauges,
        // Events
        events, connectionEvents, explanations, plantedSecrets,
        // Resources
        resources, endpointParts, curlCommands,
    ].flatMap(\.self)
}
