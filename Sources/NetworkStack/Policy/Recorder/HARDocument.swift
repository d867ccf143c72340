internal import FoundationEssentials

/// Records in HAR 1.2. An unknown field has the value that the format defines for that.
struct HARDocument: Encodable {
    struct Log: Encodable {
        let version = "1.2"
        let creator = Creator()
        let entries: [Entry]
    }

    struct Creator: Encodable {
        let name = "NetworkStack"
        let version = Network.version
    }

    struct Entry: Encodable {
        let startedDateTime: String
        let time: Double
        let request: Request
        let response: Response
        let cache = Empty()
        let timings: Timings
        let serverIPAddress: String?
        let connection: String?
        let comment: String?
    }

    struct Empty: Encodable {}

    struct Request: Encodable {
        let method: String
        let url: String
        let httpVersion: String
        let cookies: [FetchRecord.Field] = []
        let headers: [FetchRecord.Field]
        let queryString: [FetchRecord.Field] = []
        let headersSize = -1
        let bodySize: Int64
    }

    struct Response: Encodable {
        let status: Int
        let statusText: String
        let httpVersion: String
        let cookies: [FetchRecord.Field] = []
        let headers: [FetchRecord.Field]
        let content: Content
        let redirectURL: String
        let headersSize: Int64
        let bodySize: Int64
        /// Why there is no response, or not all of it. A name of our own begins with an underscore.
        let error: String?

        enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
            case error = "_error"
        }
    }

    struct Content: Encodable {
        let size: Int64
        let mimeType: String
    }

    /// In milliseconds; -1 for a step that there was not.
    struct Timings: Encodable {
        var blocked = -1.0
        var dns = -1.0
        var connect = -1.0
        var ssl = -1.0
        var send = 0.0
        var wait = 0.0
        var receive = 0.0
    }

    let log: Log

    init(_ records: [FetchRecord]) { log = Log(entries: records.flatMap { Entry.all(of: $0) }) }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension HARDocument.Entry {
    /// The requests of a fetch.
    static func all(of record: FetchRecord) -> [Self] {
        let metrics = record.metrics
        // An attempt whose request was not made has no entry.
        var entries = metrics.hops.filter { $0.url != nil }.map { Self($0, of: record) }
        let last = metrics.hops.last
        // If the fetch ended during a delay, its last request is among the hops.
        if record.hasLastRequest, last?.attempt != record.attempts || last?.failure == nil {
            let duration = HARDocument.Timings(metrics).sum / 1000
            let former = (last?.start.seconds ?? 0) + (last.map { HARDocument.Timings($0.metrics).sum } ?? 0) / 1000
            // The total time of a stream ends with its head.
            let start = max(former, metrics.total.seconds - duration)
            var hop = HTTP.EarlierHop(
                attempt: record.attempts,
                method: record.method,
                url: record.url,
                start: .seconds(start),
                status: record.status,
                failure: record.end.failure,
                metrics: metrics
            )
            hop.failureCase = record.failureCase
            entries.append(
                Self(
                    hop,
                    of: record,
                    version: record.version,
                    requestHeaders: record.requestHeaders,
                    responseHeaders: record.responseHeaders
                )
            )
        }
        return entries
    }

    /// The fields and the version of an earlier request are not known.
    private init(
        _ hop: HTTP.EarlierHop,
        of record: FetchRecord,
        version: HTTP.Version? = nil,
        requestHeaders: [FetchRecord.Field] = [],
        responseHeaders: [FetchRecord.Field] = []
    ) {
        let metrics = hop.metrics
        let version = version.map { "\($0)" } ?? "unknown"
        let value = { (name: String) in
            responseHeaders.first { $0.name.lowercased() == name }?.value ?? ""
        }
        timings = HARDocument.Timings(metrics)
        time = timings.sum
        let start = record.startedAt + hop.start.seconds
        startedDateTime = start.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        request = .init(
            method: hop.method.map { "\($0)" } ?? "",
            // The mark of a query that was omitted, as a URL has it.
            url: hop.url?.replacing("…", with: "%E2%80%A6") ?? "",
            httpVersion: version,
            headers: requestHeaders,
            bodySize: metrics.bytesSent
        )
        response = .init(
            status: Int(hop.status?.rawValue ?? 0),
            statusText: "",
            httpVersion: version,
            headers: responseHeaders,
            content: .init(size: metrics.decodedBytes ?? metrics.bytesReceived, mimeType: value("content-type")),
            redirectURL: value("location"),
            headersSize: metrics.headBytesReceived ?? -1,
            bodySize: metrics.bytesReceived,
            // A status that is a failure has its response.
            error: hop.failureCase == "http" ? nil : hop.failure
        )
        serverIPAddress = metrics.remoteAddress
        connection = metrics.connection.map { "\($0.id)" }
        comment = hop.attempt > 1 ? "attempt \(hop.attempt)" : nil
    }
}

extension HARDocument.Timings {
    /// HAR counts TLS to connecting.
    fileprivate init(_ metrics: HTTP.Metrics) {
        self.init()
        for (step, duration) in metrics.steps {
            let milliseconds = duration.seconds * 1000
            switch step {
            case .queue: blocked = milliseconds
            case .nameLookup: dns = milliseconds
            case .connecting: connect = milliseconds
            case .securing: (connect, ssl) = (max(connect, 0) + milliseconds, milliseconds)
            case .sending: send = milliseconds
            case .server: wait = milliseconds
            case .receiving: receive = milliseconds
            }
        }
    }

    /// The time of the request.
    fileprivate var sum: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max($1, 0) } }
}
