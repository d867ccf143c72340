public import FoundationEssentials

/// Carries one hop: one request to one server, and its response. This is the waist between the library's policy and a
/// backend; a backend outside this package is one conformer and gets everything else.
///
/// The ``HTTPEngine`` above decides: what is legal, where redirects lead, when a clock has run out, how much is too much,
/// what a status means. A transport refuses what it cannot do, carries bytes, and tells what it sees.
///
/// Events of one hop reach its sink one at a time and in order, never from within ``start(_:sink:)``, and end with exactly
/// one of ``HTTPTransferSink/finished(trailers:metrics:)``, ``HTTPTransferSink/finished(_:body:trailers:metrics:)`` and
/// ``HTTPTransferSink/failed(_:metrics:)``; after a cancel the rest may be left out. The queue timeout is the transport's own, and
/// so is the connect timeout, which a clock of the engine's bounds besides; the other clocks are the engine's.
public protocol HTTPTransport<Request, Response, Failure>: Sendable {
    /// The request type of resources on this transport.
    associatedtype Request: HTTPRequestConvertible
    /// The response type that fetches on this transport deliver.
    associatedtype Response: HTTPResponseConvertible
    /// What the transport itself fails with.
    associatedtype Failure: Error

    /// What the transport can do here, and why not what it cannot.
    var capabilities: HTTP.Capabilities { get }

    /// Whether the transport proves ``HTTPHop/trust`` before any byte of a request leaves. One that does not say so is taken
    /// not to, and is given no request to a host whose keys are pinned.
    var enforcesServerTrust: Bool { get }

    /// Starts a hop, or queues it. Returns at once.
    ///
    /// - Parameters:
    ///   - hop: What to send, and how.
    ///   - sink: Takes what happens. The transport keeps it until it has told the end.
    /// - Returns: Steers the hop.
    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<Failure>) -> any HTTPTransfer

    /// The response to deliver for a neutral one.
    ///
    /// - Parameter response: The whole response: redirects, trailers and metrics included.
    /// - Returns: The transport's own.
    func response(_ response: HTTP.Response) -> Response
}

extension HTTPTransport {
    /// Not, unless the transport says so.
    public var enforcesServerTrust: Bool { false }
}

/// One hop, checked and ready to send. It never changes, and is passed around without being copied.
public final class HTTPHop: Sendable {
    /// The request. Its URL has no user info and no fragment; its method and fields are legal; its framing fields agree
    /// with its content.
    public let request: HTTP.Request
    /// Scheme, host and port of the request.
    public let origin: HTTP.Origin
    /// The text of the request's URL.
    public let urlText: String
    @usableFromInline let shared: Shared<HTTP.Options>
    /// How the server must prove itself before any byte of the request leaves.
    public let trust: ServerTrust
    /// The content, if it is a file or a stream. `.none` and `.bytes` are in the request itself.
    public let source: (any HTTPBodySource)?
    /// How many bytes the URL and the header fields have, and what parts them.
    package let headLength: Int
    /// Whether the server is asked by way of TLS; every transfer asks.
    package let isSecure: Bool
    /// Whether no content follows the response's head, whatever that says.
    package let asksForHeadOnly: Bool
    /// Whether the request has content; every transfer asks.
    package let hasContent: Bool
    /// Whether fields follow the content.
    package let hasTrailers: Bool
    /// Whether the hop can serve another fetch of the same request: nothing of it is used up, and nobody's code is kept with it.
    package let servesAgain: Bool
    /// Whether the transport may hold the content back and deliver it whole, telling ``HTTPTransferSink/withheld(_:)``.
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

    /// How the request is carried out.
    @inlinable public var options: HTTP.Options { shared.value }

    /// A hop without content whose server is to be trusted in this way now: the same one if it was before.
    func trusting(_ trust: ServerTrust) -> HTTPHop {
        trust.isIdentical(to: self.trust) ? self : changed(trust: trust)
    }

    /// The same hop, whose content is to be delivered as it comes: for a transport that stands before another.
    ///
    /// - Returns: A hop that does not allow withholding.
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
    /// The request, without its secrets, and how its server must prove itself.
    public var customMirror: Mirror { Mirror(self, children: ["request": request, "trust": trust]) }
}

extension HTTPHop {
    /// A hop that leads to an origin and asks for nothing there: for a connection that is opened in advance.
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

/// Steers a hop under way. Safe from any thread; a hop that has ended is not changed by it.
public protocol HTTPTransfer: Cancelable {
    /// Goes on delivering after ``HTTPTransferSink/body(_:)`` answered `false`.
    func resumeReceiving()

    /// Goes on reading the source after it answered ``HTTPBodyChunk/pending``.
    func resumeSending()
}

/// Takes what happens in one hop.
public protocol HTTPTransferSink<Failure>: AnyObject, Sendable {
    /// What the transport itself fails with.
    associatedtype Failure: Error

    /// The hop has entered a phase. `.queued` after `.sending` says that content was read ahead, and nothing sent yet.
    func entered(_ phase: HTTP.Phase)

    /// An informational (1xx) response came, or one that the transport itself has answered, such as a challenge: nobody hears
    /// of that, but its cookies count.
    func informational(_ response: HTTP.Response)

    /// The final response's head came, at its blank line.
    func head(_ response: HTTP.Response)

    /// Content came, decompressed if that was asked for.
    ///
    /// - Returns: Whether to go on; if not, the transport stops reading until ``HTTPTransfer/resumeReceiving()``.
    func body(_ chunk: Data) -> Bool

    /// Content came and is held back for one ``body(_:)`` at the end.
    ///
    /// - Parameter count: The bytes held back so far.
    func withheld(_ count: Int64)

    /// Content of the request went out.
    ///
    /// - Parameter total: The bytes of it so far; less than before where it is sent again from the first one.
    func sent(_ total: Int64)

    /// The server does not have the keys that ``HTTPHop/trust`` pins, which is only to be reported.
    func mismatched(_ report: ServerTrustReport)

    /// The response is whole.
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics)

    /// The response is whole, and its head and content were not told before: at once what ``head(_:)``, ``body(_:)`` and
    /// ``finished(trailers:metrics:)`` tell one by one, and for most responses cheaper. Who keeps no copy of the response spares
    /// the engine making one: it is completed where it is.
    func finished(_ response: consuming HTTP.Response, body: Data, trailers: HTTP.Headers?, metrics: HTTP.Metrics)

    /// The hop has failed.
    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics)
}

extension HTTPTransferSink {
    /// Nothing is reported by a transport that enforces no keys.
    public func mismatched(_ report: ServerTrustReport) {}

    /// Tells one by one what came at once.
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
