internal import Dispatch
public import NetworkStack

/// Carries hops with libcurl, on one thread per transport.
public final class CurlTransport: HTTPTransport {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response
    /// The error of libcurl.
    public typealias Failure = CurlError

    /// What this libcurl can do, and the reason for each thing that it cannot.
    public let capabilities: HTTP.Capabilities

    /// Always `true`: every request to a pinned host passes the handshake gate and the request gate.
    public var enforcesServerTrust: Bool { true }

    /// `nil` if there is no thread to carry anything.
    let thread: LoopThread?
    /// Passes events to the listeners, if there are any.
    let events: EventReporter?
    /// The TLS configuration with the paths of its files, which are read again on request.
    private let tls: Lock<Network.TLSConfiguration>
    /// Why nothing is carried, if there is no thread.
    private let refusal: Network.ConfigurationError?

    /// Makes a transport that carries nothing.
    init(refusing error: Network.ConfigurationError) {
        (capabilities, thread, events, refusal) = (CurlLibrary.shared.capabilities, nil, nil, error)
        tls = Lock(.init())
    }

    /// Makes a transport that works around the given defects of libcurl and has the given trust gates.
    init(
        configuration: Network.Configuration,
        quirks: LibcurlQuirks = .running,
        gates: TrustGates = .all
    ) throws(Network.ConfigurationError) {
        do { try configuration.validate() } catch { throw .init(error) }
        try CurlLibrary.shared.validate()
        capabilities = CurlLibrary.shared.capabilities
        if configuration.options.version == .http2PriorKnowledge { try capabilities.require(.http2PriorKnowledge) }
        tls = Lock(configuration.tls)
        var configuration = configuration
        let authorities: Authorities
        (configuration.tls, authorities) = try configuration.tls.read()
        events = EventReporter(configuration.listeners, advisories: capabilities.advisories)
        thread = try LoopThread(
            configuration: configuration,
            authorities: authorities,
            quirks: quirks,
            gates: gates,
            events: events
        )
        refusal = nil
    }

    /// Reads the files of the TLS configuration again, and has new connections use what is in them.
    func reloadCertificates() async throws(Network.ConfigurationError) {
        let answer = OneShot<Void>()
        // Under the lock, so that what is read later is also used later.
        let result = tls.withLock { [thread] tls in
            Result { () throws(Network.ConfigurationError) in
                let (tls, authorities) = try tls.read()
                if case .system = authorities { try TrustStore.reloadSystem() }
                return thread?.mailbox.post(.replaceCertificates(tls, authorities, answer)) ?? false
            }
        }
        switch result {
        case .success(let isPosted):
            guard isPosted else { return }
            await answer.take()
            events?.reloadedCertificates(nil)
        case .failure(let error):
            events?.reloadedCertificates(error)
            throw error
        }
    }

    /// The requests and connections under way, and what the thread does. After a shutdown they are empty.
    public var gauges: Network.Gauges {
        get async {
            let answer = OneShot<Network.Gauges>()
            guard thread?.mailbox.post(.report(answer)) == true else { return .init() }
            return await answer.take()
        }
    }

    /// Has the thread start no waiting hop from now on, and end those under way.
    public func beginShutdown() { thread?.mailbox.post(.shutDown) }

    /// Waits until the thread has ended, and everything is freed.
    public func shutDown() async { await thread?.ended() }

    /// Starts a hop, or queues it.
    public func start(_ hop: HTTPHop, sink: any HTTPTransferSink<CurlError>) -> any HTTPTransfer {
        start(hop, sink: sink, opensOnly: false)
    }

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<CurlError>, opensOnly: Bool) -> any HTTPTransfer {
        let control = TransferControl(hop: hop, sink: sink, mailbox: thread?.mailbox, opensOnly: opensOnly)
        if let failure = obstacle(to: hop) ?? (control.start() ? nil : .shutDown) {
            DispatchQueue.global().async { control.fail(failure) }
        }
        return control
    }

    /// The reason why a hop cannot be carried, or `nil`.
    private func obstacle(to hop: HTTPHop) -> HTTPTransferFailure<CurlError>? {
        if let refusal { return HTTPTransferFailure(refusal) }
        if let failure = hop.failureOfLongHead() { return failure }
        guard hop.versionPolicy == .http2PriorKnowledge else { return nil }
        do throws(Network.ConfigurationError) { try capabilities.require(for: hop) } catch { return .init(error) }
        guard hop.hasTrailers else { return nil }
        return .unsupported(.requestTrailers, reason: "\(CurlLibrary.shared) sends them over HTTP/1.1 only.")
    }
}
