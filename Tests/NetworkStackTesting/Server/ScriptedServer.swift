/// A loopback server that sends exactly the bytes of a test, and records exactly what it receives.
///
/// It listens from `init` until `stop()` or until the last reference is released. A release build releases an array of servers after
/// its last use: a test that needs them longer uses `withExtendedLifetime`. Each connection runs its script with blocking
/// calls on a separate thread, so a script reads like the traffic.
///
///     let server = try ScriptedServer { _ in
///         [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]
///     }
public final class ScriptedServer: Sendable {
    private let listener: Listener

    /// Starts a server. For each connection it runs the script that `script` returns for the connection's index (from 0).
    ///
    /// Throws `SystemCallError` if it cannot listen, or `TLSSetupError` if the identity cannot be loaded.
    public init(_ options: Options = Options(), script: @escaping @Sendable (_ connectionIndex: Int) -> Script) throws {
        listener = try Listener(options: options, script: script)
        try listener.start()
    }

    deinit { listener.stop() }

    /// Starts an HTTP/1.1 server that answers every request with the result of `handler`, and keeps connections alive.
    ///
    /// The handler runs on the connection's thread after the whole request was read; it may block. `Expect: 100-continue` is
    /// answered. The body of an answer to HEAD is omitted. The server closes after a request or version that ends the connection.
    /// Throws as `init` does.
    public static func responding(
        _ options: Options = Options(),
        with handler: @escaping @Sendable (ReceivedRequest) throws -> Reply
    ) throws -> ScriptedServer {
        try ScriptedServer(options) { _ in
            [
                .run { connection in
                    while true {
                        let head = try connection.receiveHead()
                        if head["expect"]?.lowercased() == "100-continue" {
                            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                        }
                        let request = try connection.receiveBody()
                        let reply = try handler(request)
                        try connection.send(request.method == "HEAD" ? reply.head : reply.bytes)
                        for step in reply.steps { try step.perform(connection) }
                        if !request.keepsAlive { return }
                    }
                }
            ]
        }
    }

    /// The port in host order; 0 on a Unix socket.
    public var port: UInt16 { listener.port }

    /// `host:port` for URLs and Host fields, with the loopback address as host.
    public var authority: String { "\(listener.options.loopback.urlHost)\(port == 0 ? "" : ":\(port)")" }

    /// A URL on this server, `https` if it uses TLS. `path` begins with a slash; `host` replaces the loopback address.
    public func url(_ path: String = "/", host: String? = nil) -> String {
        let scheme = listener.options.tls == nil ? "http" : "https"
        return "\(scheme)://\(host ?? listener.options.loopback.urlHost)\(port == 0 ? "" : ":\(port)")\(path)"
    }

    /// All records so far, as one consistent value.
    public var snapshot: Snapshot { listener.ledger.snapshot }

    /// All requests so far, in order of arrival.
    public var requests: [ReceivedRequest] { snapshot.requests }

    /// The connections so far, in order of acceptance.
    public var connections: [ConnectionRecord] { snapshot.connections }

    /// Suspends until a snapshot satisfies the condition, and returns it. The condition is checked only after changes, on the
    /// caller's actor.
    ///
    /// Throws `WaitTimedOut`, with the last snapshot in its description, after `limit`; `CancellationError` when cancelled.
    @discardableResult
    public nonisolated(nonsending) func waitUntil(
        within limit: Duration = .seconds(10),
        _ condition: (Snapshot) -> Bool
    ) async throws -> Snapshot {
        let deadline = ContinuousClock.now + limit
        var version = -1
        while true {
            let isLast = ContinuousClock.now >= deadline
            if let snapshot = listener.ledger.snapshot(after: &version), condition(snapshot) { return snapshot }
            if isLast { throw WaitTimedOut(limit: limit, seen: "\(snapshot)") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Closes the port, and returns when connecting is no longer possible. Existing connections go on. Call it once.
    public func stopListening() { listener.stopListening() }

    /// Closes the port and all connections, and joins the threads.
    ///
    /// Blocks for a moment, and until every `Step.run` has returned. Later calls do nothing.
    public func stop() { listener.stop() }
}
