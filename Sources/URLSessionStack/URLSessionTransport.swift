public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Carries hops as tasks of a session. URLSession's redirects, cookies, caches and timeouts are off.
public struct URLSessionTransport: HTTPTransport {
    /// Foundation's request.
    public typealias Request = URLRequest
    /// Foundation's response: an `HTTPURLResponse` that carries its ``/NetworkStack/HTTP/Response``.
    public typealias Response = URLResponse
    /// The error of URLSession.
    public typealias Failure = URLError

    /// What URLSession can do here, and the reason for each thing that it cannot.
    public let capabilities = Platform.capabilities

    /// The requests that have a place, and those that wait. URLSession does not show its connections.
    public var gauges: Network.Gauges { get async { .init(session.places.shares) } }

    let session: TransferSession

    /// Starts a hop, or queues it.
    public func start(_ hop: HTTPHop, sink: any HTTPTransferSink<URLError>) -> any HTTPTransfer {
        let transfer = HopTransfer(hop, sink: sink, session: session)
        do {
            try Self.check(hop)
            session.steering.async { transfer.begin() }
        } catch {
            transfer.fail(.init(error))
        }
        return transfer
    }

    /// The response that a fetch delivers.
    public func response(_ response: HTTP.Response) -> URLResponse {
        CarriedResponse(carrying: response)
            ?? URLResponse(url: response.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }

    /// Makes no more tasks from now on.
    public func beginShutdown() { session.table.shutDown() }

    /// Invalidates the session, and waits until it is invalid.
    public func shutDown() async {
        session.end()
        if session.session != nil { await session.table.invalid() }
    }

    /// Refuses hops that URLSession would carry in another way than asked, before anything is sent.
    private static func check(_ hop: HTTPHop) throws(Network.ConfigurationError) {
        try Platform.capabilities.require(for: hop)
        // Leaves room for what URLSession and libcurl add.
        if let limit = Platform.longestHead, hop.headLength > limit - 2048 {
            throw .invalid(
                "The request's URL and header fields have \(hop.headLength) bytes; libcurl sends a head of up to 1 MiB."
            )
        }
    }
}
