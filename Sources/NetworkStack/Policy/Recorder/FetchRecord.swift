public import FoundationEssentials

/// What a ``FlightRecorder`` keeps of one fetch. Secrets are omitted.
public struct FetchRecord: Sendable, CustomStringConvertible {
    /// A header field, whose value is omitted if it is secret.
    public struct Field: Sendable, Hashable, Encodable {
        /// The name.
        public let name: String
        /// The value, or `<redacted>`.
        public let value: String
    }

    /// How the fetch ended.
    @nonexhaustive
    public enum End: Sendable, Hashable {
        /// With a success.
        case succeeded
        /// With a failure, in a few words (``HTTPError/summary``).
        case failed(String)
        /// With a cancel.
        case cancelled
    }

    /// Identifies the fetch in the process.
    public let fetch: Int
    /// When the fetch began.
    public let startedAt: Date
    /// How it ended.
    public let end: End
    /// The name of the failure's case (``HTTPError/caseName``), such as `timedOut`, if the fetch failed.
    public let failureCase: String?
    /// The number of attempts, including those whose requests could not be made.
    public let attempts: Int
    /// Whether the request of the last attempt was made.
    let hasLastRequest: Bool
    /// The method of the last request; `nil` if none was made.
    public let method: HTTP.Method?
    /// The URL of the last request, without user info, query and fragment.
    public let url: String?
    /// The header fields of the last request.
    public let requestHeaders: [Field]
    /// The status of the last response, if there was one.
    public let status: HTTP.StatusCode?
    /// The version of HTTP of the last response.
    public let version: HTTP.Version?
    /// The header fields of the last response.
    public let responseHeaders: [Field]
    /// The metrics of the fetch, with its earlier requests (``HTTP/Metrics/hops``).
    public let metrics: HTTP.Metrics

    init(
        _ event: FetchEvent,
        _ end: End,
        _ failureCase: String?,
        _ response: HTTP.Response?,
        _ metrics: HTTP.Metrics,
        startedAt: Date,
        redacting given: HTTP.Redaction
    ) {
        var redaction = given
        redaction.headers.formUnion(event.sensitiveHeaders)
        let fields = { [redaction] (headers: HTTP.Headers?) in
            (headers ?? [:]).map { Field(name: $0.name.rawValue, value: redaction.text(of: $0)) }
        }
        fetch = event.fetch
        self.startedAt = startedAt
        (self.end, self.failureCase, attempts, self.metrics) = (end, failureCase, event.attempt, metrics)
        hasLastRequest = event.hasRequestOfAttempt
        (method, url) = (event.request?.method, event.request.map { redaction.text(of: $0.url) })
        requestHeaders = fields(event.request?.headers)
        (status, version) = (response?.status, response?.version)
        responseHeaders = fields(response?.headers)
    }

    /// One line: `GET http://example.com/a?…, 200 after 12 ms`.
    public var description: String {
        let outcome = end.failure ?? status.map { "\($0.rawValue)" } ?? "success"
        return
            "\(method.map { "\($0) " } ?? "")\(url ?? "no request"), \(outcome) after \(metrics.total.inMilliseconds)"
    }
}

extension FetchRecord.End {
    /// Why the fetch did not succeed, in a few words.
    var failure: String? {
        switch self {
        case .succeeded: nil
        case .failed(let summary): summary
        case .cancelled: "cancelled"
        }
    }
}

extension FetchRecord {
    /// The fetch as a timeline for people, which names what was slow:
    ///
    ///     GET http://127.0.0.1:8080/slow, 200 after 812 ms
    ///       queue              0 ms
    ///       connecting         1 ms
    ///       sending            0 ms
    ///       server           808 ms  <- slowest
    ///       receiving          3 ms
    ///     connection 1, 127.0.0.1:50514 to 127.0.0.1:8080, new; HTTP/1.1, 200; 20480 bytes received
    ///
    /// - Returns: The lines. There is no line break at the end.
    public func explain() -> String {
        var lines = [description]
        for hop in metrics.hops {
            let outcome = hop.status.map { "\($0.rawValue)" } ?? hop.failure ?? "no response"
            let slowest = hop.metrics.slowestStep.map { "; slowest: \($0.step.name), \($0.duration.inMilliseconds)" }
            let request = "\(hop.method.map { "\($0) " } ?? "")\(hop.url ?? "no request")"
            lines.append("  earlier, attempt \(hop.attempt): \(request), \(outcome)\(slowest ?? "")")
        }
        let slowest = metrics.slowestStep
        for (step, duration) in metrics.steps {
            let name = step.name + String(repeating: " ", count: max(1, 14 - step.name.count))
            let time = duration.inMilliseconds
            let mark = step == slowest?.step ? "  <- slowest" : ""
            lines.append("  \(name)\(String(repeating: " ", count: max(0, 10 - time.count)))\(time)\(mark)")
        }
        var facts: [String] = []
        if let connection = metrics.connection {
            facts.append("\(connection), \(metrics.isConnectionReused == true ? "reused" : "new")")
        } else if let address = metrics.remoteAddress {
            facts.append("to \(address)")
        }
        if let version, let status { facts.append("\(version), \(status.rawValue)") }
        facts.append("\(metrics.bytesReceived) bytes received")
        return (lines + [facts.joined(separator: "; ")]).joined(separator: "\n")
    }
}

extension HTTP.Metrics.Step {
    /// The step, in words.
    fileprivate var name: String {
        switch self {
        case .nameLookup: "name lookup"
        case .securing: "TLS"
        default: rawValue
        }
    }
}

extension Duration {
    /// Whole milliseconds, with their unit; three digits after the point below 10.
    fileprivate var inMilliseconds: String {
        let microseconds = Int((seconds * 1e6).rounded())
        guard microseconds < 10_000 else { return "\((microseconds + 500) / 1000) ms" }
        let rest = "\(microseconds % 1000)"
        return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) ms"
    }
}
