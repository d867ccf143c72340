public import FoundationEssentials

/// A network stack that speaks HTTP. One app's code runs on any of them: write it on `some HTTPNetworkStack<Data>` and
/// choose the backend at one line, or at run time with ``AnyHTTPNetworkStack``.
public protocol HTTPNetworkStack<Remote>: NetworkStack
where
    Resource == HTTPResource<Request, Response>,
    Request: HTTPRequestConvertible,
    Response: HTTPResponseConvertible,
    FetchError == HTTPFetchError<Response, TransportError>
{
    /// What a transfer fails with.
    associatedtype TransportError: Error

    /// What the stack can do here, and why not what it cannot.
    var capabilities: HTTP.Capabilities { get }

    /// How fetches are carried out whose resource has no options of its own. Options of a resource's own begin as a copy of
    /// these (``HTTPResource/options``).
    var options: HTTP.Options { get }

    /// Fetches a resource. Cancelling the task cancels the fetch, which then throws ``HTTPFetchError/cancelled``.
    ///
    /// Every stack has this form, on the one that calls back; a stack may have a shorter way of its own.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The payload and its response.
    /// - Throws: Why the fetch failed, as ``HTTPFetchError`` has it.
    func fetch(resource: Resource) async throws(FetchError) -> Network.Value<Remote, Response>
}

/// A stack that is an engine over a transport. Fetching is written once, here. A conformer that has no `fetch` of its own may
/// hand the asynchronous form on to ``HTTPEngine/fetch(_:)``, which spares a hop from thread to thread.
public protocol HTTPTransportStack<Transport>: HTTPNetworkStack<Data>
where Request == Transport.Request, Response == Transport.Response, TransportError == Transport.Failure {
    /// Carries one hop.
    associatedtype Transport: HTTPTransport

    /// Decides everything above a hop.
    var engine: HTTPEngine<Transport> { get }
}

extension HTTPTransportStack {
    /// What the transport can do here, and why not what it cannot.
    public var capabilities: HTTP.Capabilities { engine.transport.capabilities }

    /// How fetches are carried out whose resource has no options of its own: what the stack's configuration says.
    public var options: HTTP.Options { engine.options }

    /// Fetches a resource and collects its content.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on a queue of the stack.
    /// - Returns: Cancels the fetch.
    @discardableResult
    @inlinable
    public func fetch(resource: Resource, completion: @escaping Completion<Data>) -> any Cancelable {
        engine.fetch(resource, completion: completion)
    }
}
