/// An HTTP proxy on 127.0.0.1, written in Python, over TLS unless it has no identity. It opens tunnels to any port of 127.0.0.1.
public final class TLSProxy: Sendable {
    private let process: ServerProcess
    private let identity: TLSIdentity?
    private let delay: Int

    /// Makes the directory; nothing runs yet. Every tunnel after the first is delayed by this many milliseconds.
    ///
    /// Throws `SystemCallError`.
    public init(_ identity: TLSIdentity?, delayingTunnels delay: Int = 0) throws {
        (self.identity, self.delay) = (identity, delay)
        process = try ServerProcess("tls-proxy")
    }

    /// Starts the proxy and returns when it listens.
    ///
    /// Throws `TestServerError`.
    public func start() async throws {
        let launch = ServerProcess.Launch(
            program: try Program("python3", package: "python3"),
            arguments: ["-c", Self.server, String(delay)]
                + (identity.map { [$0.certificateChainFile, $0.keyFile] } ?? []),
            environment: ["PYTHONUNBUFFERED": "1"]
        )
        try await process.run(launch, within: .seconds(30)) { line("LISTENING ") != nil }
        if let port = line("LISTENING ").flatMap({ UInt16($0) }) { process.keep(ports: [port]) }
    }

    /// The port; 0 before the start.
    public var port: UInt16 { process.ports.first ?? 0 }

    /// How many requests for a tunnel arrived, after a handshake.
    public var tunnels: Int { process.lines.count { $0 == "CONNECT" } }

    private func line(_ prefix: String) -> Substring? {
        process.lines.first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count)
    }

    private static let server = """
        import asyncio, ssl, sys
        async def relay(reader, writer):
            try:
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
            except OSError:
                pass
            writer.close()
        tunnels = 0
        async def serve(reader, writer):
            global tunnels
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            print("CONNECT", flush=True)
            tunnels += 1
            if tunnels > 1:
                await asyncio.sleep(int(sys.argv[1]) / 1000)
            port = int(head.split(b" ")[1].rsplit(b":", 1)[1])
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
            await asyncio.gather(relay(reader, far_writer), relay(far_reader, writer))
        async def main():
            context = None
            if len(sys.argv) > 2:
                context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                context.load_cert_chain(sys.argv[2], sys.argv[3])
            server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
            print("LISTENING", server.sockets[0].getsockname()[1], flush=True)
            await server.serve_forever()
        asyncio.run(main())
        """
}
