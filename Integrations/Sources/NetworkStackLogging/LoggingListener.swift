public import Logging
public import NetworkStack
internal import SemanticConventions

/// Logs the fetches of a stack with swift-log. Add it to the configuration's listeners.
///
///     configuration.listeners.append(LoggingListener(Logger(label: "network")))
///
/// Messages are fixed texts; what varies is metadata. Its keys are those of OpenTelemetry's semantic conventions for HTTP clients,
/// besides `fetch`, `attempt`, `delay`, `duration`, `connection`, `reason` and `count`. There are no header fields, no bodies, and of a URL
/// neither user info nor query.
///
/// It is called on a queue of the stack, not in the task that fetches. So task-local metadata is missing, such as that of a
/// metadata provider for traces.
public struct LoggingListener: EventListener {
    /// Which event is logged at which level. `nil` omits the event.
    public struct Levels: Sendable {
        /// The request of an attempt is about to be sent. `nil` by default.
        public var attempt: Logger.Level?
        /// A redirect is followed. `debug` by default.
        public var redirect: Logger.Level? = .debug
        /// An attempt has failed, and another follows. `info` by default.
        public var retry: Logger.Level? = .info
        /// A fetch has succeeded. `debug` by default.
        public var success: Logger.Level? = .debug
        /// A fetch was cancelled. `debug` by default.
        public var cancel: Logger.Level? = .debug
        /// A fetch has failed. `warning` by default, whatever the failure; the app may go on without the response.
        public var failure: @Sendable (any HTTPError) -> Logger.Level? = { _ in .warning }
        /// A connection was opened or closed. `nil` by default. Only CurlStack reports this.
        public var connection: Logger.Level?
        /// The stack has discarded events, because listeners were too slow. `warning` by default.
        public var droppedEvents: Logger.Level? = .warning

        /// Makes the default levels.
        public init() {}
    }

    private let logger: Logger
    private let levels: Levels
    private let redaction: HTTP.Redaction

    /// Makes a listener.
    ///
    /// - Parameters:
    ///   - logger: Writes the log.
    ///   - levels: Which event is logged at which level.
    ///   - redaction: What of a URL is shown. Header fields never are.
    public init(_ logger: Logger, levels: Levels = .init(), redaction: HTTP.Redaction = .init()) {
        (self.logger, self.levels, self.redaction) = (logger, levels, redaction)
    }

    /// Whether anything but the ends of fetches has a level. Without, a fetch costs less.
    public var observesSteps: Bool {
        levels.attempt != nil || levels.redirect != nil || levels.retry != nil || levels.connection != nil
    }

    /// Logs that a request is about to be sent.
    public func attemptStarted(_ event: FetchEvent) { log("Attempt started", at: levels.attempt, event) }

    /// Logs that a redirect is followed.
    public func redirected(_ event: FetchEvent, response: HTTP.Response) {
        log("Redirect followed", at: levels.redirect, event) { $0[Attribute.status] = "\(response.status)" }
    }

    /// Logs that another attempt follows.
    public func retryScheduled(_ event: FetchEvent, after delay: Duration?, error: any Error) {
        log("Attempt failed; another follows", at: levels.retry, event) { metadata in
            if let delay { metadata["delay"] = "\(delay)" }
            if let error = error as? any HTTPError { metadata.describe(error) }
        }
    }

    /// Logs the end of a fetch.
    public func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) {
        log("Fetch succeeded", at: levels.success, event) { metadata in
            metadata[Attribute.status] = "\(response.status)"
            metadata[Attribute.protocolVersion] = "\(response.version.attribute)"
            metadata.describe(response.metrics)
        }
    }

    /// Logs the end of a fetch.
    public func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) {
        log("Fetch failed", at: levels.failure(error), event) { metadata in
            metadata.describe(error)
            metadata.describe(metrics)
        }
    }

    /// Logs the end of a fetch.
    public func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics) {
        log("Fetch cancelled", at: levels.cancel, event) { $0.describe(metrics) }
    }

    /// Logs the opening of a connection.
    public func connectionOpened(_ connection: HTTP.Connection, at time: ContinuousClock.Instant) {
        log("Connection opened", at: levels.connection) { $0["connection"] = "\(connection)" }
    }

    /// Logs the end of a connection.
    public func connectionClosed(
        _ connection: HTTP.Connection,
        reason: HTTP.Connection.CloseReason,
        at time: ContinuousClock.Instant
    ) {
        log("Connection closed", at: levels.connection) { metadata in
            metadata["connection"] = "\(connection)"
            metadata["reason"] = "\(reason.rawValue)"
        }
    }

    /// Logs that events are missing.
    public func eventsDropped(_ count: Int) {
        log("Events were discarded, because listeners are too slow", at: levels.droppedEvents) {
            $0["count"] = "\(count)"
        }
    }

    private func log(
        _ message: Logger.Message,
        at level: Logger.Level?,
        _ event: FetchEvent,
        _ describe: (inout Logger.Metadata) -> Void = { _ in }
    ) {
        log(message, at: level) { metadata in
            metadata["fetch"] = "\(event.fetch)"
            metadata["attempt"] = "\(event.attempt)"
            if let request = event.request {
                metadata[Attribute.method] = "\(request.method.attribute)"
                metadata[Attribute.url] = "\(redaction.text(of: request.url))"
            }
            describe(&metadata)
        }
    }

    private func log(_ message: Logger.Message, at level: Logger.Level?, _ describe: (inout Logger.Metadata) -> Void) {
        guard let level, logger.logLevel <= level else { return }
        var metadata = Logger.Metadata()
        describe(&metadata)
        logger.log(level: level, message, metadata: metadata)
    }
}

extension Logger.Metadata {
    fileprivate mutating func describe(_ error: any HTTPError) {
        self[Attribute.errorType] = "\(error.errorType)"
        self[Attribute.errorMessage] = "\(error.summary)"
        if let status = error.statusCode { self[Attribute.status] = "\(status)" }
    }

    fileprivate mutating func describe(_ metrics: HTTP.Metrics) {
        self["duration"] = "\(metrics.total)"
        self[Attribute.requestBodySize] = "\(metrics.bytesSent)"
        self[Attribute.responseBodySize] = "\(metrics.bytesReceived)"
    }
}
