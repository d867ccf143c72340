public import FoundationEssentials

/// Keeps the last fetches of a stack, without their secrets and bodies, for the moment when something is slow or fails.
///
///     let recorder = FlightRecorder()
///     configuration.listeners = [recorder]
///     …
///     print(recorder.records.last?.explain() ?? "")
///     try recorder.har().write(to: file)
///
/// Its memory is bounded. It is called only at the end of a fetch.
public final class FlightRecorder: EventListener {
    /// A fetch as it was reported. A record is made of it when it is asked for.
    private struct Kept {
        let event: FetchEvent
        let end: FetchRecord.End
        let failureCase: String?
        var response: HTTP.Response?
        let metrics: HTTP.Metrics?
        /// When the fetch began. It is worked out once, at its end: later the system may have slept, or its time may have been set.
        let startedAt: Date

        init(
            _ event: FetchEvent,
            _ end: FetchRecord.End,
            failureCase: String? = nil,
            response: HTTP.Response?,
            metrics: HTTP.Metrics?
        ) {
            (self.event, self.end, self.failureCase) = (event, end, failureCase)
            (self.response, self.metrics) = (response, metrics)
            startedAt = Date.now - event.fetchAge.seconds
        }

        /// About how many bytes of memory it takes.
        var size: Int {
            let metrics = metrics ?? response?.metrics
            var size = 2048 + Int(metrics?.headBytesReceived ?? 0)
            if let request = event.request {
                size += request.url.absoluteString.utf8.count
                for field in request.headers { size += field.name.rawValue.utf8.count + field.value.utf8.count }
            }
            if let response { size += response.url.absoluteString.utf8.count }
            for hop in metrics?.hops ?? [] { size += 768 + (hop.url?.utf8.count ?? 0) + (hop.failure?.utf8.count ?? 0) }
            return size
        }
    }

    private struct State {
        var kept = Deque<Kept>()
        var size = 0
    }

    private let fetches: Int
    private let bytes: Int
    private let redaction: HTTP.Redaction
    private let state = Lock(State())

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - fetches: The most fetches to keep; at least 1.
    ///   - bytes: About the most memory to use, in bytes. The latest fetch is kept in any case.
    ///   - redaction: What is omitted from ``records`` and ``har()``, besides the fields that the configuration names in
    ///     ``Network/Configuration/sensitiveHeaders``. Bodies are not kept.
    public init(fetches: Int = 256, bytes: Int = 1 << 20, redaction: HTTP.Redaction = .init()) {
        (self.fetches, self.bytes, self.redaction) = (max(fetches, 1), bytes, redaction)
    }

    /// `false`: it is called only at the end of a fetch.
    public var observesSteps: Bool { false }

    /// The last fetches that have ended, the latest last.
    public var records: [FetchRecord] {
        state.withLock { state in (0..<state.kept.count).map { state.kept[$0] } }.map { kept in
            let metrics = kept.metrics ?? kept.response?.metrics ?? HTTP.Metrics()
            return FetchRecord(
                kept.event,
                kept.end,
                kept.failureCase,
                kept.response,
                metrics,
                startedAt: kept.startedAt,
                redacting: redaction
            )
        }
    }

    /// Forgets all fetches.
    public func clear() { state.withLock { $0 = State() } }

    /// The last fetches in HAR 1.2 (<http://www.softwareishard.com/blog/har-12-spec/>), which browsers and other tools read. Each
    /// request has an entry, including redirected requests and those of failed attempts. Where there was no response, the status is 0
    /// and `_error` has the reason. A request's fields are those of the program, without what the stack and its library add, such as
    /// `User-Agent`; a query is shown as "…".
    ///
    /// - Returns: The JSON document.
    /// - Throws: An error of the encoder. None is known.
    public func har() throws -> Data { try HARDocument(records).encoded() }

    private func keep(_ fetch: Kept) {
        var kept = fetch
        if kept.response?.errorBody != nil { kept.response?.errorBody = nil }
        // The metrics have them, too.
        if kept.response?.redirects.isEmpty == false { kept.response?.redirects = [] }
        state.withLock { state in
            state.kept.append(kept)
            state.size += kept.size
            while state.kept.count > fetches || state.size > bytes && state.kept.count > 1 {
                guard let oldest = state.kept.popFirst() else { break }
                state.size -= oldest.size
            }
        }
    }

    /// Keeps the fetch.
    public func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) {
        keep(Kept(event, .succeeded, response: response, metrics: nil))
    }

    /// Keeps the fetch.
    public func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) {
        let response = error.httpResponse
        let end = FetchRecord.End.failed(error.summary)
        keep(Kept(event, end, failureCase: error.caseName, response: response, metrics: metrics))
    }

    /// Keeps the fetch.
    public func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics) {
        keep(Kept(event, .cancelled, response: nil, metrics: metrics))
    }
}
