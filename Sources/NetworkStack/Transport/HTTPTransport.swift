public import FoundationEssentials

/// Carries one hop: one request to one server, and its response. A backend outside this package implements this protocol and gets
/// everything else.
///
/// The ``HTTPEngine`` above decides what is legal, where redirects lead, when a timeout has been exceeded, which limits apply,
/// and what a status means. A transport carries bytes and reports events. It refuses what it cannot do.
///
/// A hop's events reach its sink one at a time, in order, and never from within ``start(_:sink:)``. They end with exactly one of
/// ``HTTPTransferSink/finished(trailers:metrics:)``, ``HTTPTransferSink/finished(_:body:trailers:metrics:)`` and
/// ``HTTPTransferSink/failed(_:metrics:)``. After a cancel, the remaining events may be omitted. The transport enforces the queue
/// timeout and the connect timeout; the engine enforces the others, and limits the connect timeout as well.
public protocol HTTPTransport<Request, Response, Failure>: Sendable {
    /// The request type of resources on this transport.
    associatedtype Request: HTTPRequestConvertible
    /// The response type that fetches on this transport deliver.
    associatedtype Response: HTTPResponseConvertible
    /// The error of the transport itself.
    associatedtype Failure: Error

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
}

extension HTTPTransport {
    /// `false`.
    public var enforcesServerTrust: Bool { false }
}

/// One hop, checked and ready to send. It is immutable and passed by reference.
public final class HTTPHop: Sendable {
    /// The request. Its URL has no user info and no fragment; its method and fields are legal; its framing fields match its body.
    public let request: HTTP.Request
    /// Scheme, host and port of the request.
    public let origin: HTTP.Origin
    /// The text of the request's URL.
    public let urlText: String
    @usableFromInline let shared: Shared<HTTP.Options>
    /// How the server has to be verified before any byte of the request is sent.
    public let trust: ServerTrust
    /// The body, if it is a file or a stream. `.none` and `.bytes` are in the request.
    public let source: (any HTTPBodySource)?
    /// The size of the URL and the header fields, with separators, in bytes.
    package let headLength: Int
    /// Whether the server is reached over TLS. Kept because every transfer reads it.
    package let isSecure: Bool
    /// Whether the response has no body, whatever its head announces.
    package let asksForHeadOnly: Bool
    /// Whether the request has a body. Kept because every transfer reads it.
    package let hasContent: Bool
    /// Whether fields follow the body.
    package let hasTrailers: Bool
    /// Whether the hop can serve another fetch of the same request: it keeps no body that was opened and no code of the caller.
    package let servesAgain: Bool
    /// Whether the transport may withhold the body and deliver it whole, while it reports ``HTTPTransferSink/withheld(_:)``.
    public let allowsWithholding: Bool

    init(
        request: HTTP.Request,
        origin: HTTP.Origin,
        urlText: String,
        options: Shared<HTTP.Options>,
        trust: ServerTrust,
        source: (any HTTPBodySource)?,
        allowsWithholding: Bool
    ) {
        self.request = request
        self.origin = origin
        self.urlText = urlText
        shared = options
        self.trust = trust
        self.source = source
        headLength = request.headers.reduce(urlText.utf8.count) { length, field in
            length + field.name.rawValue.utf8.count + field.value.utf8.count + 4
        }
        isSecure = origin.scheme == .https
        asksForHeadOnly = request.method == .HEAD
        hasContent = !request.body.isNone
        hasTrailers = request.body.trailers != nil
        servesAgain = !hasContent && !options.value.isHeard
        self.allowsWithholding = allowsWithholding
    }

    /// The options of the request.
    @inlinable public var options: HTTP.Options { shared.value }

    /// Returns the hop with another trust: itself if nothing changes. It has no body source.
    func trusting(_ trust: ServerTrust) -> HTTPHop {
        trust.isIdentical(to: self.trust) ? self : changed(trust: trust)
    }

    /// Returns the hop without withholding, for a transport in front of another one.
    ///
    /// - Returns: A hop whose body is delivered as it arrives.
    public func withoutWithholding() -> HTTPHop { changed(allowsWithholding: false) }

    private func changed(trust: ServerTrust? = nil, allowsWithholding: Bool? = nil) -> HTTPHop {
        HTTPHop(
            request: request,
            origin: origin,
            urlText: urlText,
            options: shared,
            trust: trust ?? self.trust,
            source: source,
            allowsWithholding: allowsWithholding ?? self.allowsWithholding
        )
    }
}

extension HTTPHop: CustomReflectable {
    /// The request without its secrets, and its trust.
    public var customMirror: Mirror { Mirror(self, children: ["request": request, "trust": trust]) }
}

extension HTTPHop {
    /// Makes a hop that sends no request, for a connection that is opened in advance.
    package convenience init(to origin: HTTP.Origin, options: HTTP.Options, trust: ServerTrust) throws(HTTP
        .InvalidValue)
    {
        let (request, origin, urlText, _) = try HTTP.Request(url: "\(origin)/").checked()
        self.init(
            request: request,
            origin: origin,
            urlText: urlText,
            options: Shared(options),
            trust: trust,
            source: nil,
            allowsWithholding: true
        )
    }
}

/// Controls a running hop. Safe from any thread. After the hop's end it has no effect.
public protocol HTTPTransfer: Cancelable {
    /// Resumes delivery after ``HTTPTransferSink/body(_:)`` returned `false`.
    func resumeReceiving()

    /// Resumes reading the source after it returned ``HTTPBodyChunk/pending``.
    func resumeSending()
}

/// Receives the events of one hop.
public protocol HTTPTransferSink<Failure>: AnyObject, Sendable {
    /// The error of the transport itself.
    associatedtype Failure: Error

    /// The hop has entered a phase. `.queued` after `.sending` means that the body was read ahead and nothing was sent yet.
    func entered(_ phase: HTTP.Phase)

    /// An informational (1xx) response was received, or one that the transport has answered, such as a challenge. It is not
    /// delivered, but its cookies count.
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

    /// The response is complete.
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics)

    /// The response is complete, and its head and body were not reported before. One call replaces ``head(_:)``, ``body(_:)`` and
    /// ``finished(trailers:metrics:)``, and is cheaper for most responses. A transport that keeps no copy of the response lets
    /// the engine complete it in place.
    func finished(_ response: consuming HTTP.Response, body: Data, trailers: HTTP.Headers?, metrics: HTTP.Metrics)

    /// The hop has failed.
    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics)
}

extension HTTPTransferSink {
    /// Does nothing.
    public func mismatched(_ report: ServerTrustReport) {}

    /// Calls ``head(_:)``, ``body(_:)`` and ``finished(trailers:metrics:)`` one after the other.
    public func finished(
        _ response: HTTP.Response,
        body content: Data,
        trailers: HTTP.Headers?,
        metrics: HTTP.Metrics
    ) {
        head(response)
        if !content.isEmpty { _ = body(content) }
        finished(trailers: trailers, metrics: metrics)
    }
}
