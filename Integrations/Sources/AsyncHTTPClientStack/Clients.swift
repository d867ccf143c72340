internal import AsyncHTTPClient
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOHTTPCompression
internal import NIOSSL
internal import NetworkStack

/// The clients of a stack: what AsyncHTTPClient decides for a whole client, a hop may choose. Each is made when it is needed.
final class Clients: Sendable {
    private struct Kind: Hashable {
        let isHTTP1Only: Bool
        let decompresses: Bool
        let isFresh: Bool
        /// Which one of those for repeats.
        let number: Int
    }

    private struct Made {
        var clients: [Kind: HTTPClient] = [:]
        var repeats = 0
    }

    /// The most clients for repeats. A client has one connection of HTTP/2 to a server.
    private static var mostForRepeats: Int { 64 }

    private let tls: TLSConfiguration
    private let idleAge: Duration?
    let loop: any EventLoop
    private let made = NIOLockedValueBox(Made())

    init(_ tls: TLSConfiguration, idleAge: Duration?, on loop: any EventLoop) {
        (self.tls, self.idleAge, self.loop) = (tls, idleAge, loop)
    }

    deinit { for client in take() { client.shutdown { _ in } } }

    /// The client for a hop.
    ///
    /// - Parameters:
    ///   - hop: The hop.
    ///   - repeats: How often it was sent to connections that did not process it. First repeats share a client, the next ones share
    ///     two, then four: a server that ends each connection after a few requests gets few requests on each.
    /// - Returns: A client with the hop's options.
    func client(for hop: HTTPHop, repeats: Int) -> HTTPClient {
        made.withLockedValue { made in
            made.repeats &+= min(repeats, 1)
            let kind = Kind(
                isHTTP1Only: hop.options.version == .http1_1 && hop.origin.scheme == .https,
                decompresses: hop.options.decompresses,
                isFresh: hop.needsNewConnection || repeats > 0,
                number: repeats == 0 ? 0 : made.repeats & (min(1 << (repeats - 1), Self.mostForRepeats) - 1)
            )
            let client = made.clients[kind] ?? make(kind)
            made.clients[kind] = client
            return client
        }
    }

    func shutDown() async { for client in take() { try? await client.shutdown() } }

    private func take() -> [HTTPClient] {
        made.withLockedValue { made in
            defer { made.clients = [:] }
            return Array(made.clients.values)
        }
    }

    private func make(_ kind: Kind) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            // The engine's connect timeout is never longer than the kernel's own.
            timeout: .init(connect: .seconds(120)),
            decompression: kind.decompresses ? .enabled(limit: .none) : .disabled
        )
        configuration.httpVersion = kind.isHTTP1Only ? .http1Only : .automatic
        // The stack's queue has the limit.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = .max
        configuration.connectionPool.retryConnectionEstablishment = false
        // NIO's amounts of time overflow after 292 years.
        if let idleAge { configuration.connectionPool.idleTimeout = .init(min(idleAge, .seconds(365 * 86_400))) }
        // A connection that is kept could die unanswered, and then the repeat of a request with it.
        if kind.isFresh { configuration.connectionPool.idleTimeout = .zero }
        configuration.reportUnprocessedStreams()
        return HTTPClient(eventLoopGroup: loop, configuration: configuration)
    }
}
