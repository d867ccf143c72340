public import FoundationEssentials
public import NetworkStack
public import NetworkStackTesting

/// A stack under test: how it is made, and what it can do.
public struct ConformanceSubject: Sendable {
    /// The type-erased stack.
    public typealias Stack = AnyHTTPNetworkStack<Data>

    /// The stack's name, for reports.
    public let name: String
    /// What the stack can do here.
    public let capabilities: HTTP.Capabilities
    /// Makes a new stack for a check.
    public let make: @Sendable (Network.Configuration) throws -> Stack
    /// Makes a new stack that delivers streams.
    let makeStreaming: @Sendable (Network.Configuration) throws -> AnyHTTPNetworkStack<ErasedStream>
    /// Makes a new stack, and its view that delivers streams.
    let makeViews:
        @Sendable (Network.Configuration) throws -> (collected: Stack, streamed: AnyHTTPNetworkStack<ErasedStream>)
    /// Makes a new stack that downloads to the path that a closure returns.
    let makeDownloading:
        @Sendable (Network.Configuration, _ place: @escaping @Sendable (HTTP.Response) -> String) throws
            -> AnyHTTPNetworkStack<ErasedDownload>
    /// Makes a new stack, and a closure that shuts it down after a time.
    let makeFinishing:
        @Sendable (Network.Configuration) throws -> (stack: Stack, finish: @Sendable (Duration) async -> Void)
    /// Makes a new stack, and a closure that opens a connection to an origin in advance, if the subject has one.
    let makePreconnecting:
        (
            @Sendable (Network.Configuration) throws -> (
                stack: Stack, preconnect: @Sendable (HTTP.Origin) async throws -> Void
            )
        )?
    /// Whether the stack's request type can represent a neutral request.
    let holds: @Sendable (HTTP.Request) -> Bool
    /// Starts a server that answers each request with a reply; without a network, from memory.
    public let serve: @Sendable (@escaping @Sendable (ReceivedRequest) throws -> Reply) throws -> ConformancePeer

    /// Makes a subject with real servers.
    ///
    /// - Parameters:
    ///   - name: The stack's name.
    ///   - capabilities: What the stack can do here.
    ///   - make: Makes a stack.
    ///   - preconnect: Opens a connection to an origin in advance, for a stack that claims
    ///     ``/NetworkStack/HTTP/Capability/preconnection``.
    public init<Made: HTTPTransportStack>(
        name: String,
        capabilities: HTTP.Capabilities,
        make: @escaping @Sendable (Network.Configuration) throws -> Made,
        preconnect: (@Sendable (Made, HTTP.Origin) async throws -> Void)? = nil
    ) {
        self.init(name: name, capabilities: capabilities, make: make, preconnect: preconnect) { handler in
            let server = try ScriptedServer.responding(with: handler)
            return ConformancePeer(url: { server.url($0) }, requests: { server.requests }, owner: server)
        }
    }

    /// Makes a subject with its own kind of servers.
    ///
    /// - Parameters:
    ///   - name: The stack's name.
    ///   - capabilities: What the stack can do here.
    ///   - make: Makes a stack.
    ///   - preconnect: Opens a connection to an origin in advance, for a stack that claims
    ///     ``/NetworkStack/HTTP/Capability/preconnection``.
    ///   - serve: Starts a server that answers each request with a reply.
    public init<Made: HTTPTransportStack>(
        name: String,
        capabilities: HTTP.Capabilities,
        make: @escaping @Sendable (Network.Configuration) throws -> Made,
        preconnect: (@Sendable (Made, HTTP.Origin) async throws -> Void)? = nil,
        serve: @escaping @Sendable (@escaping @Sendable (ReceivedRequest) throws -> Reply) throws -> ConformancePeer
    ) {
        self.name = name
        self.capabilities = capabilities
        self.make = { AnyHTTPNetworkStack(try make($0)) }
        makeStreaming = { AnyHTTPNetworkStack(AnyHTTPNetworkStack(try make($0)).streaming) }
        makeViews = { configuration in
            let stack = AnyHTTPNetworkStack(try make(configuration))
            return (stack, AnyHTTPNetworkStack(stack.streaming))
        }
        makeDownloading = { AnyHTTPNetworkStack(AnyHTTPNetworkStack(try make($0)).downloads(to: $1)) }
        makeFinishing = { configuration in
            let stack = try make(configuration)
            return (AnyHTTPNetworkStack(stack), { await stack.engine.finish(within: $0) })
        }
        makePreconnecting =
            if let preconnect {
                { configuration in
                    let stack = try make(configuration)
                    return (AnyHTTPNetworkStack(stack), { origin in try await preconnect(stack, origin) })
                }
            } else { nil }
        holds = Self.holding(make)
        self.serve = { handler in
            let peer = try serve(handler)
            CheckPeers.current?.add(peer)
            return peer
        }
    }

    private static func holding<Made: HTTPTransportStack>(
        _: @Sendable (Network.Configuration) throws -> Made
    ) -> @Sendable (HTTP.Request) -> Bool {
        { (try? Made.Request($0)) != nil }
    }

    /// Returns whether a check applies to the stack.
    ///
    /// - Parameter check: The check.
    /// - Returns: Whether the stack has all capabilities that the check needs.
    public func claims(_ check: ConformanceCheck) -> Bool { missing(for: check).isEmpty }

    /// The capabilities that a check needs and the stack, or the test program around it, does not have.
    func missing(for check: ConformanceCheck) -> Set<HTTP.Capability> {
        check.needs.filter { !isThere($0) }
    }

    private func isThere(_ need: HTTP.Capability) -> Bool {
        switch need {
        case .heldLookups: HeldLookups.areInPlace
        case .dante: DanteServer.isObtainable
        default: capabilities.supports(need)
        }
    }

    /// The phases of a timeout while a connection is opened: a stack that does not measure them may not know which it is.
    func connecting(_ phase: HTTP.Phase) -> Set<HTTP.Phase> {
        capabilities.supports(.phaseMetrics) ? [phase] : [phase, .connecting]
    }

    /// Makes a stack with a configuration that a closure changes.
    func stack(_ configure: (inout Network.Configuration) throws -> Void = { _ in }) throws -> Stack {
        var configuration = Network.Configuration()
        try configure(&configuration)
        return try make(configuration)
    }
}

/// A server of a check, real or in memory.
public struct ConformancePeer: Sendable {
    /// The URL of a path on the server.
    public let url: @Sendable (_ path: String) -> String
    /// The requests that the server has received so far, in order.
    public let requests: @Sendable () -> [ReceivedRequest]
    /// Keeps the server running.
    private let owner: any Sendable

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - url: The URL of a path on the server.
    ///   - requests: The requests that the server has received so far, in order.
    ///   - owner: Keeps the server running.
    public init(
        url: @escaping @Sendable (_ path: String) -> String,
        requests: @escaping @Sendable () -> [ReceivedRequest],
        owner: any Sendable
    ) {
        self.url = url
        self.requests = requests
        self.owner = owner
    }
}
