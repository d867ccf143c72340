public import FoundationEssentials

/// Logs the events of fetches to a closure.
///
/// Secrets are omitted (``HTTP/Redaction``). The fields in ``Network/Configuration/sensitiveHeaders`` and
/// ``HTTP/Options/sensitiveHeaders`` are not known here: give their names to the redaction, too. Control characters are escaped, so
/// that a server cannot forge a line of the log. Bodies are shown only with ``Level/body``, and only their preview.
public struct LoggingInterceptor: HTTPResourceInterceptor {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    /// How much is logged; each level adds to the one before.
    public enum Level: Int, Hashable, Sendable, Comparable, CaseIterable {
        /// Failures.
        case failures
        /// One line for each request and each response.
        case summary
        /// Header fields.
        case headers
        /// The beginning of the body.
        case body

        /// Whether one level logs less than the other.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// An event, ready to be written.
    public struct Entry: Sendable, CustomStringConvertible {
        /// The kinds of events.
        public enum Kind: Hashable, Sendable {
            /// A request is about to be sent.
            case request
            /// A fetch succeeded.
            case response
            /// An attempt failed.
            case failure
        }

        /// The kind of event.
        public let kind: Kind
        /// The attempt's identifier; the entries of one attempt share it.
        public let identifier: Int
        /// The lines to write.
        public let lines: [String]

        /// Makes an entry, for tests.
        ///
        /// - Parameters:
        ///   - kind: The kind of event.
        ///   - identifier: The attempt's identifier.
        ///   - lines: The lines to write.
        public init(kind: Kind, identifier: Int, lines: [String]) {
            (self.kind, self.identifier, self.lines) = (kind, identifier, lines)
        }

        /// The lines, each after the attempt's identifier.
        public var description: String { lines.map { "#\(identifier) \($0)" }.joined(separator: "\n") }
    }

    private let level: Level
    private let redaction: HTTP.Redaction
    private let preview: ContentPreview
    private let sink: @Sendable (Entry) -> Void

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - level: How much is logged.
    ///   - redaction: The secrets that are omitted.
    ///   - previewLimit: The most bytes of a body to show, with ``Level/body``.
    ///   - sink: Called with each entry; several fetches call it concurrently. A first attempt's ``Entry/Kind/request`` is logged
    ///     within `fetch`, on the caller's thread, unless the request is made later. Other entries are logged on the engine's
    ///     queue.
    public init(
        level: Level = .summary,
        redaction: HTTP.Redaction = .init(),
        previewLimit: Int = 512,
        sink: @escaping @Sendable (Entry) -> Void
    ) {
        self.level = level
        self.redaction = redaction
        preview = ContentPreview(limit: max(0, previewLimit))
        self.sink = sink
    }

    /// `false`: it does not intercept requests.
    public var interceptsRequests: Bool { false }

    /// `false`: it does not intercept bodies.
    public var interceptsBody: Bool { false }

    /// Logs a request.
    public func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State) {
        guard level >= .summary else { return }
        let attempt = retryState.errors.isEmpty ? "" : " (attempt \(retryState.attemptCount))"
        var lines = ["--> \(request.method) \(redaction.text(of: request.url))\(attempt)"]
        if level >= .headers { lines += headerLines(request.headers) }
        if level >= .body { lines += preview.lines(of: request.body) }
        log(.request, identifier, lines)
    }

    /// Logs a response.
    public func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: HTTP.Request,
        data: Data,
        response: HTTP.Response,
        retryState: Retry.State
    ) {
        guard level >= .summary else { return }
        log(.response, identifier, responseLines(response, data, "<-- \(response.status)"))
    }

    /// Logs a failure. Returns `.none`.
    public func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        let words = (error as? any HTTPError)?.summary ?? "\(type(of: error))"
        let title = "<-- failed: \(words)"
        if let response {
            log(.failure, identifier, responseLines(response, data ?? Data(), title))
        } else {
            let target = request.map { " \($0.method) \(redaction.text(of: $0.url))" } ?? ""
            log(.failure, identifier, [title + target])
        }
        return .none
    }

    private func responseLines(_ response: HTTP.Response, _ data: Data, _ title: String) -> [String] {
        // An empty body may be a stream that is still to come.
        let count = data.isEmpty ? "" : "\(data.count) bytes, "
        let facts = "\(response.version), \(count)\(response.metrics.total)"
        var lines = ["\(title) \(redaction.text(of: response.url)) (\(facts))"]
        if level >= .headers { lines += headerLines(response.headers) }
        if level >= .body { lines += preview.lines(of: data) }
        return lines
    }

    private func headerLines(_ headers: HTTP.Headers) -> [String] {
        headers.map { "\($0.name): \(redaction.text(of: $0))" }
    }

    private func log(_ kind: Entry.Kind, _ identifier: Int, _ lines: [String]) {
        sink(Entry(kind: kind, identifier: identifier, lines: lines.map(ContentPreview.escaped)))
    }
}
