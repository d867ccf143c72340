import Foundation
import NetworkStack

/// How a fetch of the command line ended, for -w.
struct FetchReport {
    let url: String
    let number: Int
    /// `nil` if the fetch could not begin.
    let outcome: Outcome?
    let stack: StackChoice
    /// Bytes of the body, unless it was dropped.
    let downloaded: Int64
    let file: String?
    let exitCode: Int32
    let message: String?

    /// A variable's value.
    enum Value {
        case text(String?)
        case integer(Int64)
        case status(Int)
        case seconds(Duration)

        /// The value as curl writes it.
        var text: String {
            switch self {
            case .text(let text): text ?? ""
            case .integer(let number): "\(number)"
            case .status(let status): String(format: "%03d", status)
            case .seconds(let duration): String(format: "%.6f", duration.milliseconds / 1000)
            }
        }

        /// The value in `%{json}`.
        var json: JSON {
            switch self {
            case .text(let text): .optional(text)
            case .integer(let number): .integer(number)
            case .status(let status): .integer(Int64(status))
            case .seconds(let duration): .number(duration.milliseconds / 1000)
            }
        }
    }

    typealias Variable = (name: String, value: @Sendable (FetchReport) -> Value)

    /// Every variable, in the order of the alphabet, as curl's `%{json}` has them.
    static let variables: [Variable] = [
        ("conn_id", { .integer(Int64($0.metrics.connection?.id ?? -1)) }),
        ("content_type", { .text($0.header("Content-Type")) }),
        ("errormsg", { .text($0.message) }),
        ("exitcode", { .integer(Int64($0.exitCode)) }),
        ("filename_effective", { .text($0.file) }),
        ("http_code", { .status($0.status) }),
        ("http_version", { .text($0.outcome?.head?.version.number ?? "0") }),
        ("local_ip", { .text($0.metrics.connection?.localAddress ?? "") }),
        ("local_port", { .integer(Int64($0.metrics.connection?.localPort ?? 0)) }),
        ("method", { .text($0.outcome?.request.method.rawValue) }),
        ("num_connects", { .integer($0.sum { $0.isConnectionReused == false ? 1 : 0 }) }),
        ("num_headers", { .integer(Int64($0.outcome?.head?.headers.count ?? 0)) }),
        ("num_redirects", { .integer(Int64($0.outcome?.redirects ?? 0)) }),
        ("num_retries", { .integer(Int64($0.outcome?.retries ?? 0)) }),
        ("proxy_used", { .integer($0.isProxied ? 1 : 0) }),
        ("redirect_url", { .text($0.redirectURL) }),
        ("referer", { .text($0.outcome?.request.headers[.referer]) }),
        ("remote_ip", { .text($0.metrics.remoteAddress ?? "") }),
        ("remote_port", { .integer(Int64($0.metrics.remotePort ?? 0)) }),
        ("response_code", { .status($0.status) }),
        ("scheme", { .text($0.outcome?.url.scheme?.uppercased()) }),
        ("size_download", { .integer($0.downloaded) }),
        ("size_header", { .integer($0.sum { $0.headBytesReceived ?? 0 }) }),
        ("size_request", { .integer($0.requestSize) }),
        ("size_upload", { .integer($0.metrics.bytesSent) }),
        ("speed_download", { .integer($0.speed($0.downloaded)) }),
        ("speed_upload", { .integer($0.speed($0.metrics.bytesSent)) }),
        ("ssl_verify_result", { .integer($0.verifyResult) }),
        ("time_appconnect", { .seconds($0.total { $0.seconds(\.secured) }) }),
        ("time_connect", { .seconds($0.total { $0.seconds(\.connected) }) }),
        ("time_namelookup", { .seconds($0.total { $0.seconds(\.resolved) }) }),
        ("time_posttransfer", { .seconds($0.total { $0.seconds(\.requestSent) }) }),
        ("time_pretransfer", { .seconds($0.total(\.untilRequest)) }),
        ("time_queue", { .seconds($0.total { $0.queue ?? .zero }) }),
        ("time_redirect", { .seconds($0.redirects.reduce(.zero) { $0 + $1.seconds(\.ended) }) }),
        ("time_starttransfer", { .seconds($0.total { $0.seconds(\.firstByte) }) }),
        ("time_total", { .seconds($0.outcome?.elapsed ?? .zero) }),
        ("url", { .text($0.url) }),
        ("url_effective", { .text($0.outcome?.url.absoluteString ?? $0.url) }),
        ("urlnum", { .integer(Int64($0.number)) }),
    ]

    /// A variable's value, or `nil` if there is no such variable.
    func value(of name: String) -> Value? { Self.variables.first { $0.name == name }?.value(self) }

    /// All variables.
    var json: JSON { .object(Self.variables.map { JSON.Member(name: $0.name, value: $0.value(self).json) }) }

    /// The first value of a field of the last head.
    func header(_ name: String) -> String? {
        outcome?.head?.headers.first { $0.name == HTTP.HeaderName(name) }?.value
    }

    /// The last head's fields, a line each: `{"name":["value",...],`.
    var headerJSON: String {
        var (names, values) = ([String](), [String: [JSON]]())
        for field in outcome?.head?.headers ?? [:] {
            let name = field.name.rawValue.lowercased()
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(.string(field.value))
        }
        let lines = names.map { JSON.string($0).text + ":" + JSON.array(values[$0] ?? []).text }
        return "{" + lines.joined(separator: ",\n") + "\n}"
    }
}

extension FetchReport {
    private var metrics: HTTP.Metrics { outcome?.metrics ?? HTTP.Metrics() }
    private var status: Int { Int(outcome?.head?.status.rawValue ?? 0) }

    /// The requests of the last attempt that were redirected.
    private var redirects: [HTTP.Metrics] {
        let attempt = (outcome?.retries ?? 0) + 1
        return metrics.hops.filter { $0.attempt == attempt && $0.failure == nil }.map(\.metrics)
    }

    /// A figure of the last attempt: curl adds those of its requests.
    private func sum(_ figure: (HTTP.Metrics) -> Int64) -> Int64 {
        (redirects + [metrics]).reduce(0) { $0 + figure($1) }
    }

    private func total(_ time: (HTTP.Metrics) -> Duration) -> Duration {
        (redirects + [metrics]).reduce(.zero) { $0 + time($1) }
    }

    private func speed(_ bytes: Int64) -> Int64 {
        Int64(Double(bytes) / max((outcome?.elapsed.milliseconds ?? 0) / 1000, 0.000001))
    }

    /// Bytes of the requests that were sent, heads and bodies.
    private var requestSize: Int64 {
        guard let outcome else { return 0 }
        let sent = outcome.head == nil && !metrics.hasSentRequest ? outcome.requests.dropLast() : outcome.requests[...]
        let version = outcome.head?.version ?? .http1_1
        return sent.reduce(sum(\.bytesSent)) { $0 + SentHead($1, over: stack, version: version).byteCount }
    }

    private var isProxied: Bool {
        guard let url = outcome?.url, let origin = try? HTTP.Origin(of: url) else { return false }
        return stack.proxy(for: origin) != nil
    }

    /// OpenSSL's verdict on the certificate: 0 if it was verified or there was none, 1 if nothing more is known.
    private var verifyResult: Int64 {
        if let result = outcome?.failure?.verifyResult { return Int64(result) }
        let isDoubtful = !stack.verifies || [.tls, .pin].contains(outcome?.failure?.kind)
        return outcome?.url.scheme == "https" && isDoubtful ? 1 : 0
    }

    /// Where a redirect leads that was not followed.
    private var redirectURL: String? {
        guard let outcome, let head = outcome.head, head.status.statusClass == .redirection,
            let place = head.headers[.location]
        else {
            return nil
        }
        return URL(string: place, relativeTo: outcome.url)?.absoluteString ?? place
    }
}

extension HTTP.Metrics {
    /// A time from the start of the request, with the wait for a connection; zero for what was not reached.
    fileprivate func seconds(_ time: KeyPath<HTTP.Metrics, Duration?>) -> Duration {
        self[keyPath: time].map { $0 + (queue ?? .zero) } ?? .zero
    }

    /// Whether the request was sent, or a part of it.
    fileprivate var hasSentRequest: Bool {
        requestSent != nil || firstByte != nil || bytesSent > 0
            || endedIn.map { [.sending, .waiting, .receiving].contains($0) } == true
    }

    /// Until the request could be sent; zero if it never could.
    fileprivate var untilRequest: Duration {
        guard hasSentRequest else { return .zero }
        return (queue ?? .zero) + (secured ?? connected ?? resolved ?? .zero)
    }
}
