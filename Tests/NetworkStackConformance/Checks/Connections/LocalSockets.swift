import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Unix sockets, which have no ports to distinguish connections.
    static let localSockets: [ConformanceCheck] =
        reachedSockets + [
            onSockets("Unrequested bytes over a Unix socket are not taken as a response") { subject, place in
                let (sends, sent) = (Gate(), Gate())
                let server = try ScriptedServer(place.options) { index in
                    index == 0
                        ? [
                            .receiveHead, answer("first"), .wait(for: sends), answer("poison"), .open(sent),
                            .waitForClose,
                        ]
                        : [.receiveHead, answer("second"), .waitForClose]
                }
                let client = try subject.client { $0.addresses.unixSocket = place.socket }
                try expectBytes(await client.get(server.url()).value, "first".utf8)
                sends.open()
                try await sent.opened()
                try expectBytes(await client.get(server.url()).value, "second".utf8)
                try expectEqual(server.snapshot.accepted, 2, "connections")
            },
            onSockets(
                "A Unix socket connection with unrequested bytes is not used again"
            ) { subject, place in
                let (sends, sent) = (Gate(), Gate())
                // Both fetches run at once, so that there are two connections.
                let both = [Gate(), Gate()]
                let server = try ScriptedServer(place.options) { index in
                    let other = both[(index + 1) % 2]
                    let steps: ScriptedServer.Script =
                        index < 2
                        ? [.receiveHead, .open(both[index]), .wait(for: other), answer("kept")]
                        : [.receiveHead, answer("new")]
                    return index == 0
                        ? steps + [.wait(for: sends), answer("poison"), .open(sent), .waitForClose]
                        : steps + [.repeat([.receiveHead, answer("kept")])]
                }
                let client = try subject.client { $0.addresses.unixSocket = place.socket }
                async let one = client.get(server.url("/a"))
                async let two = client.get(server.url("/b"))
                for fetched in try await [one, two] { try expectBytes(fetched.value, "kept".utf8) }
                sends.open()
                try await sent.opened()
                for path in ["/c", "/d", "/e"] {
                    let content = try await client.get(server.url(path)).value
                    try expect(
                        content != Data("poison".utf8),
                        "Unrequested bytes were taken as the response to \(path)"
                    )
                }
                // The other connection is still usable.
                try expectEqual(server.connections[1].requests.count, 4, "requests on the other connection")
            },
            ConformanceCheck(
                "A one-shot connection over an abstract Unix socket is closed",
                needs: [.network, .unixSockets, .strictReplies]
            ) { subject in
                let folder = try TemporaryDirectory("abstract socket")
                let place = LocalPlace.abstract(folder.file("server"))
                let server = try ScriptedServer(place.options) { _ in
                    [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .waitForClose]
                }
                let client = try subject.client { $0.addresses.unixSocket = place.socket }
                for number in 1...3 {
                    try expectBytes(await client.get(server.url()).value, "ok".utf8)
                    try await server.waitUntil { snapshot in
                        snapshot.accepted == number && snapshot.connections.allSatisfy { $0.state == .closedByPeer }
                    }
                }
            },
            onSockets(
                abstract: true,
                "An HTTP/2 connection error over a Unix socket truncates the body",
                needs: [.http2PriorKnowledge, .strictReplies]
            ) { subject, place in
                let server = try ScriptedServer(place.options) { _ in
                    [
                        .beginHTTP2, .receiveStream,
                        .send([.head(200, on: 1), .data("half", on: 1), HTTP2Frame(.windowUpdate, [0, 0, 0, 0])]),
                        .close,
                    ]
                }
                let client = try subject.client { configuration in
                    configuration.addresses.unixSocket = place.socket
                    configuration.options.version = .http2PriorKnowledge
                }
                _ = try await client.breakdown(HTTP.Request(url: server.url()))
                let headers: HTTP.Headers = [
                    "X": "GOAWAY, error=0, last_stream=0", "Y": "received GOAWAY, error=0, last_stream=0",
                ]
                _ = try await client.breakdown(HTTP.Request(url: server.url(), headers: headers))
            },
            onSockets(
                abstract: true,
                "A request that GOAWAY excludes over a Unix socket is sent again",
                needs: [.http2PriorKnowledge, .strictReplies]
            ) { subject, place in
                let server = try ScriptedServer(place.options) { index in
                    let answer = ScriptedServer.Step.send([.head(200, on: 1), .data("ok", on: 1, endsStream: true)])
                    return [.beginHTTP2, .receiveStream]
                        + (index == 0 ? [.send([.goAway(lastStream: 0)]), .close] : [answer, .waitForClose])
                }
                let client = try subject.client { configuration in
                    configuration.addresses.unixSocket = place.socket
                    configuration.options.version = .http2PriorKnowledge
                }
                let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(Data("hello".utf8)))
                try expectBytes(await client.success(request).value, "ok".utf8)
                try expectEqual(server.snapshot.accepted, 2, "connections")
            },
            onSockets(
                abstract: true,
                "A POST that GOAWAY includes over a Unix socket is sent once",
                needs: [.http2PriorKnowledge, .strictReplies]
            ) { subject, place in
                let server = try ScriptedServer(place.options) { _ in
                    [.beginHTTP2, .receiveStream, .send([.goAway(lastStream: 1)]), .close]
                }
                let client = try subject.client { configuration in
                    configuration.addresses.unixSocket = place.socket
                    configuration.options.version = .http2PriorKnowledge
                }
                let request = try HTTP.Request(method: .POST, url: server.url(), body: .bytes(Data("hello".utf8)))
                _ = try await client.breakdown(request)
                try expectEqual(server.snapshot.accepted, 1, "connections")
            },
        ]

    private static func answer(_ text: String) -> ScriptedServer.Step {
        .send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }

    /// A check that is run on a socket with a path, and perhaps on an abstract one.
    private static func onSockets(
        abstract isForAbstract: Bool = false,
        _ name: String,
        needs: Set<HTTP.Capability> = [],
        _ run: @escaping @Sendable (ConformanceSubject, LocalPlace) async throws -> Void
    ) -> ConformanceCheck {
        ConformanceCheck(name, needs: needs.union([.network, .unixSockets])) { subject in
            let folder = try TemporaryDirectory("local socket")
            try await run(subject, .path(folder.file("server.sock")))
            if isForAbstract { try await run(subject, .abstract(folder.file("server"))) }
        }
    }

    /// The address of a server on this machine, without ports.
    private enum LocalPlace {
        case path(String)
        case abstract(String)

        var options: ScriptedServer.Options {
            var options = ScriptedServer.Options()
            options.loopback =
                switch self {
                case .path(let path): .path(path)
                case .abstract(let name): .abstract(name)
                }
            return options
        }

        var socket: Network.Configuration.Addresses.UnixSocket {
            switch self {
            case .path(let path): .path(path)
            case .abstract(let name): .abstract(name)
            }
        }
    }

    private static let reachedSockets: [ConformanceCheck] = [
        ConformanceCheck("nginx is reached on its Unix socket", needs: [.network, .unixSockets]) { subject in
            let nginx = try NginxServer()
            try await nginx.start()
            let client = try subject.client { configuration in
                configuration.addresses.unixSocket = .path(nginx.unixSocketPath)
                // Ignored with a Unix socket.
                try configuration.use("http://127.0.0.1:1")
            }
            for _ in 1...3 { try expectBytes(await client.get("http://any.test:81/json").value, ServedFiles.json.utf8) }
            let content = patternBytes(100_000)
            var options = HTTP.Options()
            options.allowsEmptyBody = true
            let put = try HTTP.Request(method: .PUT, url: "http://any.test/upload/one", body: .bytes(content))
            _ = try await client.success(put, options: options)
            try expectBytes(nginx.uploadedFile("one") ?? [], content)
            let log = try await nginx.waitForLog { $0.count == 4 }
            try expectEqual(Set(log.prefix(3).map(\.connection)).count, 1, "connections")
        },
        ConformanceCheck(
            "A connection over a Unix socket has no addresses",
            needs: [.network, .unixSockets, .connectionEvents]
        ) { subject in
            // No longer than an IPv4 address.
            let path = "/tmp/\(UInt32.random(in: 0...UInt32.max))"
            defer { try? FileManager.default.removeItem(atPath: path) }
            for place in [LocalPlace.path(path), .abstract(path)] {
                let server = try ScriptedServer(place.options) { _ in [.receiveHead, answer("ok"), .waitForClose] }
                let client = try subject.client { $0.addresses.unixSocket = place.socket }
                let metrics = try await client.get(server.url()).response.metrics
                guard let connection = metrics.connection else {
                    throw ConformanceFailure("The metrics name no connection")
                }
                try expectEqual([connection.remoteAddress, connection.localAddress], [nil, nil], "the addresses")
                try expectEqual([connection.remotePort, connection.localPort], [nil, nil], "the ports")
                try expectEqual(metrics.remoteAddress, nil, "the metrics' address")
            }
        },
        ConformanceCheck("A missing Unix socket fails to connect", needs: [.network, .unixSockets]) {
            subject in
            let client = try subject.client { $0.addresses.unixSocket = .path("/nowhere/to/be.found") }
            try await client.outcome(of: HTTP.Request(url: "http://any.test/")).expectFailure(.connect)
        },
        ConformanceCheck("An abstract Unix socket is reached", needs: [.network, .unixSockets]) { subject in
            let server = try AbstractSocketServer()
            try await server.start()
            let client = try subject.client { $0.addresses.unixSocket = .abstract(server.name) }
            for path in ["/a", "/b"] {
                try expectBytes(await client.get("http://any.test\(path)").value, "any.test\(path)".utf8)
            }
        },
    ]
}
