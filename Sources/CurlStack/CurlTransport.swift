internal import Dispatch
public import NetworkStack

/// Carries hops with libcurl, on a thread of its own.
public final class CurlTransport: HTTPTransport {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response
    /// What libcurl fails with.
    public typealias Failure = CurlError

    /// What this libcurl can do, and why not what it cannot.
    public let capabilities: HTTP.Capabilities

    /// Both gates stand in the way of every request to a host whose keys are pinned.
    public var enforcesServerTrust: Bool { true }

    let thread: LoopThread

    /// Makes a transport that works around these defects of libcurl.
    init(
        configuration: Network.Configuration,
        quirks: LibcurlQuirks = .running
    ) throws(Network.ConfigurationError) {
        do { try configuration.validate() } catch { throw .init(error) }
        try CurlLibrary.shared.validate()
        capabilities = CurlLibrary.shared.capabilities
        if configuration.options.version == .http2PriorKnowledge { try capabilities.require(.http2PriorKnowledge) }
        var configuration = configuration
        let authorities: Authorities
        (configuration.tls, authorities) = try configuration.tls.read()
        thread = try LoopThread(configuration: configuration, authorities: authorities, quirks: quirks)
    }

    /// Starts a hop, or queues it.
    public func start(_ hop: HTTPHop, sink: any HTTPTransferSink<CurlError>) -> any HTTPTransfer {
        start(hop, sink: sink, opensOnly: false)
    }

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<CurlError>, opensOnly: Bool) -> any HTTPTransfer {
        let control = TransferControl(hop: hop, sink: sink, mailbox: thread.mailbox, opensOnly: opensOnly)
        let failure = Self.obstacle(to: hop) ?? (thread.mailbox.post(.start(control)) ? nil : .shutDown)
        if let failure {
            DispatchQueue.global().async { control.fail(failure) }
        }
        return control
    }

    /// Why a hop cannot be carried, if it cannot.
    private static func obstacle(to hop: HTTPHop) -> HTTPTransferFailure<CurlError>? {
        if let failure = hop.failureOfLongHead() { return failure }
        guard hop.hasTrailers, hop.version == .http2PriorKnowledge else { return nil }
        return .unsupported(.requestTrailers, reason: "\(CurlLibrary.shared) sends them over HTTP/1.1 only.")
    }

    /// The response itself.
    @inlinable
    public func response(_ response: HTTP.Response) -> HTTP.Response { response }
}
