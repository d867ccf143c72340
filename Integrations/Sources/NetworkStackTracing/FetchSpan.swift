internal import FoundationEssentials
internal import NetworkStack
internal import SemanticConventions
internal import Synchronization
internal import Tracing

/// The span of one fetch, which observes the attempts as the last interceptor.
final class FetchSpan: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    private struct Progress {
        var isDescribed = false
        /// When each attempt began to be sent, by its number.
        var attempts: [Int: UInt64] = [:]
        /// What the last attempt failed with.
        var failure: String?
    }

    private let tracer: any Tracer
    private let redaction: HTTP.Redaction
    private let span: any Span
    private let progress = Mutex(Progress())

    /// Starts the span, below the current context of the task.
    init(_ tracer: any Tracer, _ redaction: HTTP.Redaction) {
        (self.tracer, self.redaction) = (tracer, redaction)
        // The request, whose method is the span's name, is not made yet.
        span = tracer.startSpan("HTTP", ofKind: .client)
    }

    var context: ServiceContext { span.context }

    var interceptsBody: Bool { false }

    // MARK: Attempts

    func interceptMakeRequestResult(
        _ result: Result<HTTP.Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        handler(
            result.map { request in
                var request = request
                tracer.inject(span.context, into: &request.headers, using: FieldInjector())
                return request
            }
        )
    }

    func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State) {
        let (isFirst, failure) = progress.withLock { progress in
            progress.attempts[retryState.attemptCount] = DefaultTracerClock.now.nanosecondsSinceEpoch
            defer { (progress.isDescribed, progress.failure) = (true, nil) }
            return (!progress.isDescribed, progress.failure)
        }
        if isFirst { describe(request) }
        guard retryState.retryCount > 0 else { return }
        var attributes: SpanAttributes = [Attribute.resendCount: .int64(Int64(retryState.retryCount))]
        attributes[Attribute.errorType] = failure
        span.addEvent(SpanEvent(name: "http.retry", attributes: attributes))
    }

    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        progress.withLock { $0.failure = (error as? any HTTPError)?.errorType }
        return .none
    }

    private func describe(_ request: HTTP.Request) {
        let method = request.method.attribute
        if method != otherValue { span.operationName = method }
        span.updateAttributes { attributes in
            attributes[Attribute.method] = method
            if method == otherValue { attributes[Attribute.originalMethod] = request.method.rawValue }
            attributes[Attribute.url] = redaction.text(of: request.url)
            guard let origin = try? HTTP.Origin(of: request.url) else { return }
            attributes[Attribute.serverAddress] = origin.host
            attributes[Attribute.serverPort] = origin.port
        }
    }

    // MARK: The end

    /// Ends the span of a success.
    func end(_ response: HTTP.Response?) {
        if let response { describe(response, response.metrics) }
        span.end()
    }

    /// Ends the span of a failure. The error itself is not recorded: its description may have secrets.
    func end(_ error: any HTTPError) {
        if let metrics = error.context?.metrics { describe(error.httpResponse, metrics) }
        span.attributes[Attribute.errorType] = error.errorType
        if !error.isCancelled { span.setStatus(SpanStatus(code: .error, message: error.summary)) }
        span.end()
    }

    private func describe(_ response: HTTP.Response?, _ metrics: HTTP.Metrics) {
        addRedirects(metrics.hops)
        span.updateAttributes { attributes in
            attributes[Attribute.status] = response?.status.rawValue
            attributes[Attribute.protocolVersion] = response?.version.attribute
            attributes[Attribute.errorType] = response?.status.errorType
            attributes[Attribute.peerAddress] = metrics.remoteAddress
            attributes[Attribute.peerPort] = metrics.remotePort
            attributes[Attribute.requestBodySize] = metrics.bytesSent
            attributes[Attribute.responseBodySize] = metrics.bytesReceived
        }
        if response?.status.errorType != nil { span.setStatus(SpanStatus(code: .error)) }
    }

    /// Adds the redirects. Each ended after its attempt's start and the hops of that attempt until then.
    private func addRedirects(_ hops: [HTTP.EarlierHop]) {
        var ends = progress.withLock { $0.attempts }
        // A hop with a failure is the end of an attempt.
        for hop in hops where hop.failure == nil {
            guard let begin = ends[hop.attempt] else { continue }
            let end = begin + ((hop.metrics.queue ?? .zero) + (hop.metrics.ended ?? .zero)).nanoseconds
            ends[hop.attempt] = end
            var attributes = SpanAttributes()
            attributes[Attribute.status] = hop.status?.rawValue
            attributes[Attribute.url] = hop.url
            let instant = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end)
            span.addEvent(SpanEvent(name: "http.redirect", at: instant, attributes: attributes))
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: UInt64 {
        UInt64(clamping: components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000)
    }
}

/// Sets header fields. A field of the same name is replaced, so that no attempt has two.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTP.Headers) {
        headers[HTTP.HeaderName(key)] = value
    }
}
