public import FoundationEssentials

/// Carries one hop: one request to one server, and its response. The engine calls it; write one to add a backend
/// (<doc:WritingABackend>).
///
/// The ``HTTPEngine`` checks requests, follows redirects, limits bodies, enforces all timeouts but that of the queue, and decides
/// what a status means. A transport limits connections, enforces the queue timeout and the limits of heads, decodes bodies, and
/// reports events. It refuses what it cannot do. Most of that is in ``HTTPQueuedTransport`` and ``HTTPReportedTransfer``.
///
/// A hop's events reach its sink one at a time, in order. Only ``HTTPTransferSink/entered(_:)`` may come from within
/// ``start(_:sink:)``. They end with exactly one of ``HTTPTransferSink/finished(trailers:metrics:)``,
/// ``HTTPTransferSink/finished(_:body:trailers:metrics:)`` and ``HTTPTransferSink/failed(_:metrics:)``. After a cancel, the
/// transport reports nothing more. Then, and at the end, it releases the hop, its body and the sink.
///
/// The engine enforces the connect timeout while the reported phase is `.resolving`, `.connecting` or `.securing`: it cancels the
/// hop, and the transport ends its attempt to connect.
public protocol HTTPTransport<Request, Response, Failure>: Sendable {
    /// The request type of resources on this transport.
    associatedtype Request: HTTPRequestConvertible = HTTP.Request
    /// The response type that fetches on this transport deliver.
    associatedtype Response: HTTPResponseConvertible = HTTP.Response
    /// The error of the transport itself. If it conforms to ``HTTPTransportError``, failures can be retried.
    associatedtype Failure: Error = HTTPTransferError

    /// What the transport can do here, and the reason for each thing that it cannot.
    var capabilities: HTTP.Capabilities { get }

    /// Whether the transport verifies ``HTTPHop/trust`` before it sends any byte of a request. The default is `false`; such a
    /// transport gets no request to a pinned host.
    var enforcesServerTrust: Bool { get }

    /// Starts a hop, or queues it. Returns at once.
    ///
    /// - Parameters:
    ///   - hop: What to send, and how.
    ///   - sink: Receives the events. The transport retains it until it has reported the end.
    /// - Returns: Controls the hop.
    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<Failure>) -> any HTTPTransfer

    /// Makes the response to deliver.
    ///
    /// - Parameter response: The complete neutral response, with redirects, trailers and metrics.
    /// - Returns: The transport's response.
    func response(_ response: HTTP.Response) -> Response

    /// The requests and connections under way. The engine adds its fetches, and the bytes of bodies. By default they are empty.
    var gauges: Network.Gauges { get async }

    /// The stack begins to shut down: from now on, no hop that waits is started. The engine then cancels all hops one after the other,
    /// and ``shutDown()`` follows. By default it does nothing, which is right for a transport without a queue.
    func beginShutdown()

    /// Ends what still runs, and releases what the transport holds. The stack calls it in its shutdown, after the engine has
    /// cancelled all hops. By default it does nothing.
    func shutDown() async
}

extension HTTPTransport {
    /// `false`.
    public var enforcesServerTrust: Bool { false }

    /// Empty.
    public var gauges: Network.Gauges { get async { .init() } }

    /// Does nothing.
    public func beginShutdown() {}

    /// Does nothing.
    public func shutDown() async {}
}

extension HTTPTransport where Response == HTTP.Response {
    /// Returns the response unchanged.
    @inlinable
    public func response(_ response: HTTP.Response) -> HTTP.Response { response }
}

/// One hop, checked and ready to send. It is immutable and passed by reference.
public final class HTTPHop: Sendable {
    /// The request. Its URL has no user info and no fragment; its method and fields are legal; its framing fields match its body.
    public let request: HTTP.Request
    /// Scheme, host and port of the request.
    public let origin: HTTP.Origin
    /// The text of the request's URL, as it is written. ``url`` is for libraries that parse it themselves.
    public let urlText: String
    @usableFromInline let shared: Shared<HTTP.Options>
    /// How the server has to be verified before any byte of the request is sent.
    public let trust: ServerTrust
    /// The body, if it is a file or a stream; `nil` for `.none` and `.bytes`, which are in the request. ``openBody()`` covers all.
    public let source: (any HTTPBodySource)?
    /// Whether the transport may withhold the body and deliver it whole, while it reports ``HTTPTransferSink/withheld(_:)``. A
    /// response that the transport may still answer itself, such as a challenge, may be withheld in any case.
    public let allowsWithholding: Bool
    /// Whether the hop is a repeat, for which the transport has to open a new connection: the kept ones may be dead, too.
    public let needsNewConnection: Bool
    /// Whether the hop can serve another fetch of the same request: it has no body and the stack's own options, so that keeping it
    /// keeps nothing of its fetch.
    package let servesAgain: Bool
    // The next three are stored: a fetch reads them some fifteen times, and a hop serves many fetches.
    /// Whether the server is reached over TLS.
    package let isSecure: Bool
    /// Whether the response has no body, whatever its head announces.
    package let asksForHeadOnly: Bool
    /// Whether fields follow the body.
    package let hasTrailers: Bool

    init(
        request: HTTP.Request,
        origin: HTTP.Origin,
        urlText: String,
        options: Shared<HTTP.Options>,
        trust: ServerTrust,
        source: (any HTTPBodySource)?,
        allowsWithholding: Bool,
        needsNewConnection: Bool = false,
        servesAgain: Bool = false
    ) {
        self.needsNewConnection = needsNewConnection
        self.servesAgain = servesAgain
        self.request = request
        self.origin = origin
        self.urlText = urlText
        shared = options
        self.trust = trust
        self.source = source
        self.allowsWithholding = allowsWithholding
        isSecure = origin.scheme == .https
        asksForHeadOnly = request.method == .HEAD
        hasTrailers = request.body.trailers != nil
    }

    /// The options of the request.
    @inlinable public var options: HTTP.Options { shared.value }
    /// Whether the request has a body.
    package var hasBody: Bool { !request.body.isNone }

    /// The size of the URL and the header fields, with separators, in bytes.
    package var headLength: Int {
        request.headers.reduce(urlText.utf8.count) { length, field in
            length + field.name.rawValue.utf8.count + field.value.utf8.count + 4
        }
    }

    /// Returns the hop with another trust: itself if nothing changes. It has no body source.
    func trusting(_ trust: ServerTrust) -> HTTPHop {
        trust.isIdentical(to: self.trust) ? self : changed(trust: trust)
    }

    /// Returns the hop without withholding, for a transport in front of another one.
    ///
    /// - Returns: A hop whose body is delivered as it arrives.
    public func withoutWithholding() -> HTTPHop { changed(allowsWithholding: false) }

    /// Returns the hop for a repeat.
    func onNewConnection() -> HTTPHop { changed(needsNewConnection: true) }

    /// Returns the hop with an `Authorization` field, for the answer to a challenge. It serves this fetch only.
    package func authorized(by field: String) -> HTTPHop {
        var request = request
        request.headers[.authorization] = field
        return changed(request: request, servesAgain: false)
    }

    private func changed(
        request: HTTP.Request? = nil,
        trust: ServerTrust? = nil,
        allowsWithholding: Bool? = nil,
        needsNewConnection: Bool? = nil,
        servesAgain: Bool? = nil
    ) -> HTTPHop {
        HTTPHop(
            request: request ?? self.request,
            origin: origin,
            urlText: urlText,
            options: shared,
            trust: trust ?? self.trust,
            source: source,
            allowsWithholding: allowsWithholding ?? self.allowsWithholding,
            needsNewConnection: needsNewConnection ?? self.needsNewConnection,
            servesAgain: servesAgain ?? self.servesAgain
        )
    }
}

extension HTTPHop: CustomReflectable {
    /// The request without its secrets, and its trust.
    public var customMirror: Mirror { Mirror(self, children: ["request": request, "trust": trust]) }
}

/// Controls a running hop. Safe from any thread, also from within a call of the sink, so a transport holds no lock during such a
/// call. After the hop's end it has no effect.
public protocol HTTPTransfer: Cancelable {
    /// Resumes delivery after ``HTTPTransferSink/body(_:)`` returned `false`. It may be called before that has returned.
    func resumeReceiving()

    /// Resumes reading the source after it returned ``HTTPBodyChunk/pending``.
    func resumeSending()
}

/// Receives the events of one hop.
public protocol HTTPTransferSink<Failure>: AnyObject, Sendable {
    /// The error of the transport itself.
    associatedtype Failure: Error

    /// The hop has entered a phase. `.queued` after `.sending` means that the body was read ahead and nothing was sent yet.
    ///
    /// A transport reports `.queued`, then `.resolving`, `.connecting` and `.securing` as far as it knows them, `.sending` with the
    /// first byte of the request, and `.waiting` with the last: without either, the first-byte timeout never runs. It never reports
    /// `.making`, `.settling` and `.delayed`.
    ///
    /// - Parameter phase: The phase.
    func entered(_ phase: HTTP.Phase)

    /// The hop has a connection and enters `.sending`, or `.waiting` if nothing is left to be sent. A transport that knows its
    /// connections calls this in place of ``entered(_:)``, again if it sends the request again.
    ///
    /// - Parameters:
    ///   - phase: The phase.
    ///   - connection: The connection; one object for all hops that share it.
    ///   - isReused: Whether another hop has used it before.
    func entered(_ phase: HTTP.Phase, on connection: HTTP.Connection, isReused: Bool)

    /// An informational (1xx) response was received, or one that the transport has answered, such as a challenge. It is not
    /// delivered. The cookies of an answered challenge count, those of a 1xx response do not.
    func informational(_ response: HTTP.Response)

    /// The final response's head was received, up to its blank line.
    func head(_ response: HTTP.Response)

    /// A part of the body was received, decompressed if that was requested.
    ///
    /// - Returns: Whether to continue. If `false`, the transport stops reading until ``HTTPTransfer/resumeReceiving()``.
    func body(_ chunk: Data) -> Bool

    /// A part of the body was received and is withheld for one ``body(_:)`` at the end.
    ///
    /// - Parameter count: The bytes withheld so far.
    func withheld(_ count: Int64)

    /// A part of the request's body was sent.
    ///
    /// - Parameter total: The bytes sent so far; less than before if the body is sent again.
    func sent(_ total: Int64)

    /// The server's keys do not match those that ``HTTPHop/trust`` pins in report-only mode.
    func mismatched(_ report: ServerTrustReport)

    /// The response is complete. A response that ends before its announced end is not: it fails with
    /// ``HTTP/FailureKind/truncated``.
    ///
    /// - Parameters:
    ///   - trailers: The fields that followed the body, if any.
    ///   - metrics: The figures of the hop. The engine adds the total and the number of hops.
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics)

    /// The response is complete, and its head and body were not reported before. One call replaces ``head(_:)``, ``body(_:)`` and
    /// ``finished(trailers:metrics:)``, and is faster. The transport must not use the response afterwards.
    func finished(_ response: consuming HTTP.Response, body: Data, trailers: HTTP.Headers?, metrics: HTTP.Metrics)

    /// The hop has failed.
    ///
    /// A transport reports ``HTTPTransferFailure/badResponse`` for an answer that does not begin as an HTTP response, and an error
    /// of the kind ``HTTP/FailureKind/malformed`` for one that then violates HTTP. It reports ``HTTPTransferFailure/transport(_:)``
    /// for a broken connection, and the other cases for what it refuses.
    ///
    /// - Parameters:
    ///   - failure: The failure.
    ///   - metrics: The figures of the hop so far.
    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics)
}

extension HTTPTransferSink {
    /// Calls ``entered(_:)``.
    public func entered(_ phase: HTTP.Phase, on connection: HTTP.Connection, isReused: Bool) { entered(phase) }

    /// Does nothing.
    public func mismatched(_ report: ServerTrustReport) {}

    /// Calls ``head(_:)``, ``body(_:)`` and ``finished(trailers:metrics:)`` one after the other.
    public func finished(
        _ response: HTTP.Response,
        body: Data,
        trailers: HTTP.Headers?,
        metrics: HTTP.Metrics
    ) {
        head(response)
        if !body.isEmpty { _ = self.body(body) }
        finished(trailers: trailers, metrics: metrics)
    }
}
