public import NetworkStack
public import Tracing

extension HTTPNetworkStack {
    /// The same stack, with a span for each fetch.
    ///
    ///     let stack = try Network.CurlNetworkStack(configuration: configuration).traced()
    ///
    /// The span is a child of the caller's `ServiceContext.current`, which is read when the fetch begins. Its attributes are those of
    /// OpenTelemetry's semantic conventions for HTTP clients. `url.full` is the URL of the first request, without user info, and
    /// without its query unless the redaction shows it. A status of 400 or more, and a failure, set the span's status to an error.
    /// A cancel does not.
    ///
    /// The span begins when the fetch is called, and ends before its completion: for a stream or a download when the response's head
    /// has arrived, because a reader may never read the rest. Each attempt after the first is an event `http.retry`, each redirect
    /// an event `http.redirect`; a cancelled fetch has no events of redirects.
    ///
    /// The tracer injects the span's context into the header fields of each attempt's request, such as `traceparent` (W3C Trace
    /// Context), in place of fields of these names. Redirects keep them. Add the names to `sensitiveHeaders` of the configuration
    /// if they must not reach other origins, such as that of a `baggage` field. The injection comes after all interceptors, so a
    /// signature that one of them makes does not cover the fields.
    ///
    /// - Parameters:
    ///   - tracer: Makes the spans, and injects their context.
    ///   - redaction: What of a URL is shown.
    /// - Returns: The view. It shares everything with the stack, and retains it.
    public func traced(
        by tracer: any Tracer = InstrumentationSystem.tracer,
        redaction: HTTP.Redaction = .init()
    ) -> HTTPTracedView<Self> { HTTPTracedView(base: self, tracer: tracer, redaction: redaction) }
}

/// A stack with a span for each fetch. Made by `traced(by:redaction:)`.
public struct HTTPTracedView<Base: HTTPNetworkStack>: HTTPNetworkStack {
    /// The stack's resource.
    public typealias Resource = HTTPResource<Base.Request, Base.Response>
    /// The type of the delivered body.
    public typealias Remote = Base.Remote
    /// The stack's request.
    public typealias Request = Base.Request
    /// The stack's response.
    public typealias Response = Base.Response
    /// The error of the stack's transfers.
    public typealias TransportError = Base.TransportError

    let base: Base
    let tracer: any Tracer
    let redaction: HTTP.Redaction

    /// What the stack can do here, with a reason for everything that it cannot.
    public var capabilities: HTTP.Capabilities { base.capabilities }

    /// The options of fetches.
    public var options: HTTP.Options { base.options }

    /// What the stack is doing.
    public var gauges: Network.Gauges { get async { await base.gauges } }

    /// Fetches a resource within a span.
    @discardableResult
    public func fetch(resource: Resource, completion: @escaping Completion<Remote>) -> any Cancelable {
        traced(resource, completion) { base.fetch(resource: $0, completion: $1) }
    }

    /// Fetches a resource within a span, and delivers its body while it arrives.
    @discardableResult
    public func stream(resource: Resource, completion: @escaping Completion<ByteStream<FetchError>>) -> any Cancelable {
        traced(resource, completion) { base.stream(resource: $0, completion: $1) }
    }

    /// Shuts the stack down.
    public func shutdown() async { await base.shutdown() }

    /// Shuts the stack down when its fetches have finished, or after this time.
    public func shutdown(after grace: Duration) async { await base.shutdown(after: grace) }

    private func traced<Value>(
        _ resource: Resource,
        _ completion: @escaping Completion<Value>,
        fetch: (Resource, @escaping Completion<Value>) -> any Cancelable
    ) -> any Cancelable {
        let span = FetchSpan(tracer, redaction)
        let traced = Resource(
            baseRequestMaking: resource.baseRequestMaking,
            errorDecoding: resource.errorDecoding,
            interceptors: resource.interceptors + [span.adapted()],
            retryActionPriority: resource.retryActionPriority,
            options: resource.options
        )
        // A fetch that an authenticator or a maker of requests begins meanwhile has its span below this one.
        return ServiceContext.withValue(span.context) {
            fetch(traced) { result in
                switch result {
                case .success(let fetched): span.end(fetched.response.httpResponse)
                case .failure(let error): span.end(error)
                }
                completion(result)
            }
        }
    }
}
