import Foundation
import NetworkStack
import NetworkStackTesting

/// A row of the demo: what it shows, and the app's call.
enum Step: CaseIterable {
    case json, error, timeout, cancel, stream, pinned, impostor, rate, processor

    var label: String {
        switch self {
        case .json: "JSON as a value"
        case .error: "a path that is missing"
        case .timeout: "a timeout of 300 ms"
        case .cancel: "a cancel during the body"
        case .stream: "a body as it arrives"
        case .pinned: "a server with its pin"
        case .impostor: "an impostor"
        case .rate: "2048 GETs, 32 at a time"
        case .processor: "processor time of each"
        }
    }

    /// The call that the step is about.
    var code: String? {
        switch self {
        case .json: "stack.get(url, as: Catalog.self)"
        case .error: "catch .http(let status, _, _)"
        case .timeout: "stack.data(for: .get(url), options: { $0.timeouts.total = .milliseconds(300) })"
        case .cancel: "task.cancel()"
        case .stream: "for try await chunk in stack.stream(for: .get(url)).0"
        case .pinned: "configuration.serverTrust = ...  // localhost has one public key"
        case .impostor: nil
        case .rate: "stack.data(for: .get(url))"
        case .processor: nil
        }
    }
}

/// Runs the steps on one backend.
actor Tour<Stack: HTTPNetworkStack<Data>> {
    private let app: App<Stack>
    private let servers: PinnedServers
    private let pinning: @Sendable (Network.Configuration) throws -> Stack
    private var processorTime = ""

    /// Makes a tour.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - servers: A server with a pinned key, and its impostor.
    ///   - pinning: Makes a stack of the same kind with another configuration.
    init(
        _ app: App<Stack>,
        _ servers: PinnedServers,
        pinning: @escaping @Sendable (Network.Configuration) throws -> Stack
    ) {
        (self.app, self.servers, self.pinning) = (app, servers, pinning)
    }

    /// Runs a step, and returns what came of it.
    func run(_ step: Step) async throws -> String {
        switch step {
        case .json: try await app.json()
        case .error: try await app.error()
        case .timeout: try await app.timeout()
        case .cancel: try await app.cancel()
        case .stream: try await app.stream()
        case .pinned: try await ask(servers.genuine, isTrusted: true)
        case .impostor: try await ask(servers.impostor, isTrusted: false)
        case .rate: try await rate()
        case .processor: processorTime
        }
    }

    /// Sends a request to a server of the pinned name, and returns what came of it and what the server received.
    private func ask(_ server: ScriptedServer, isTrusted: Bool) async throws -> String {
        // On Linux, URLSession cannot pin: there is no stack that would ignore the pins.
        do { _ = try pinning(servers.pins) } catch Network.ConfigurationError.untrusted(.pinningUnsupported) {
            return "refused: it cannot pin"
        }
        let stack = try pinning(servers.pinsAndRoots)
        do {
            let (_, response) = try await stack.data(for: .get(server.url("/", host: "localhost")))
            guard isTrusted else { throw Surprise("the impostor was trusted") }
            return "\(response.status); got the request"
        } catch {
            guard !isTrusted, case .untrusted = error as? Stack.FetchError else { throw error }
            let bytes = server.connections.map(\.receivedCount).reduce(0, +)
            guard bytes == 0 else { throw Surprise("the impostor got \(bytes) bytes") }
            return ".untrusted; got \(bytes) bytes"
        }
    }

    private func rate() async throws -> String {
        let (count, width) = (2048, 32)
        try await app.many(width, at: width)
        let began = (clock: ContinuousClock.now, processor: clock())
        try await app.many(count, at: width)
        let used = Double(clock() - began.processor) / Double(CLOCKS_PER_SEC)
        processorTime = "\(Int(used / Double(count) * 1_000_000)) us"
        return "\(Int(Double(count) / (ContinuousClock.now - began.clock).seconds)) a second"
    }
}

/// Two servers of one name and one authority. One has the pinned key.
struct PinnedServers {
    let genuine: ScriptedServer
    let impostor: ScriptedServer
    /// Pins the key of the first.
    let pins: Network.Configuration
    /// Trusts the authority of both, besides.
    let pinsAndRoots: Network.Configuration

    init() throws {
        let certificates = try TestCertificates.shared()
        func server(_ identity: TLSIdentity) throws -> ScriptedServer {
            var options = ScriptedServer.Options()
            options.tls = identity
            return try .responding(options) { _ in .ok("hello") }
        }
        genuine = try server(certificates.server)
        impostor = try server(certificates.rotatedServer)
        let policy = try PinningPolicy(
            domainName: "localhost",
            pinnedHashes: [try certificates.server.publicKeyPins()[0]],
            enforceBackupPin: false,  // An app has a backup pin, so that it can still reach its server with a new key.
            scope: .leaf
        )
        var configuration = Network.Configuration()
        configuration.serverTrust = try ServerTrustConfiguration(pinningPolicies: [policy])
        pins = configuration
        configuration.tls.trustRoots = .file(path: certificates.caFile)
        pinsAndRoots = configuration
    }
}
