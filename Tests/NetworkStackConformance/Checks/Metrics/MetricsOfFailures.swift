import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The metrics of a failed fetch.
    static let metricsOfFailures: [ConformanceCheck] = [
        ConformanceCheck("A failed connection has the metrics until then", needs: [.network]) { subject in
            let closed = try ClosedPort.reserve()
            let metrics = try await failure(subject, "http://127.0.0.1:\(closed.port)/")
            try expectEqual(metrics.firstByte, nil, "the first byte")
            try expectEqual(metrics.connected, nil, "the connection")
            try expectEqual(metrics.bytesReceived, 0, "bytes received")
            try expect(metrics.total > .zero, "The total is \(metrics.total)")
        },
        ConformanceCheck(
            "A timeout in the name lookup has only the wait before",
            needs: [.network, .connectionEvents, .heldLookups]
        ) { subject in
            let lookups = try HeldLookups(findingThisMachine: true)
            defer { lookups.release() }
            let server = try ScriptedServer.responding { _ in .ok("x") }
            let metrics = try await failure(
                subject,
                server.url(host: lookups.name),
                .clocks(idle: .seconds(20), total: .milliseconds(300))
            )
            try expect(metrics.queue != nil, "The wait for a connection is unknown")
            try expectEqual(
                [metrics.resolved, metrics.connected, metrics.firstByte],
                [nil, nil, nil],
                "the later times"
            )
        },
        ConformanceCheck(
            "A timeout while connecting has what came before it",
            needs: [.network, .connectionEvents, .connectTimeout]
        ) { subject in
            let port = try UnresponsivePort()
            let options = HTTP.Options.clocks(connect: .milliseconds(300), idle: .seconds(20))
            let metrics = try await failure(subject, "http://127.0.0.1:\(port.port)/", options)
            try expect(metrics.queue != nil, "The wait for a connection is unknown")
            try expectEqual(
                [metrics.connected, metrics.secured, metrics.firstByte],
                [nil, nil, nil],
                "the later times"
            )
            try expect(metrics.total >= .milliseconds(300), "The total is \(metrics.total)")
        },
        ConformanceCheck(
            "A timeout in the TLS handshake has the time of connecting",
            needs: [.network, .connectionEvents, .connectTimeout]
        ) { subject, scale in
            var serverOptions = ScriptedServer.Options(tls: try TestCertificates.shared().server)
            serverOptions.answersHandshake = false
            let server = try ScriptedServer(serverOptions) { _ in [] }
            let options = HTTP.Options.clocks(connect: .milliseconds(300) * scale, idle: .seconds(20))
            let metrics = try await failure(subject, server.url(), options)
            try expect(metrics.connected != nil, "The time of connecting is unknown: \(metrics)")
            try expectEqual([metrics.secured, metrics.firstByte], [nil, nil], "the later times")
        },
        ConformanceCheck(
            "A first-byte timeout has the connection and the bytes sent",
            needs: [.network, .connectionEvents]
        ) { subject, scale in
            let server = try ScriptedServer { _ in [.receiveHead, .receiveBody, .waitForClose] }
            let options = HTTP.Options.clocks(firstByte: .milliseconds(300) * scale, idle: .seconds(20))
            let stack = try subject.stack()
            let fetch = try stack.observe(
                server.url(),
                method: .PUT,
                body: .bytes(Data("seven b".utf8)),
                options: options
            )
            let metrics = try metrics(of: try await fetch.onlyOutcome())
            try expectEqual(metrics.connection?.remotePort, Int(server.port), "the server's port")
            try expectEqual(metrics.remoteAddress, "127.0.0.1", "the server's address")
            try expectEqual(metrics.isConnectionReused, false, "whether the connection was reused")
            try expectEqual(metrics.bytesSent, 7, "bytes sent")
            try expectEqual(metrics.firstByte, nil, "the first byte")
        },
        ConformanceCheck("A timeout within the body has the first byte and the bytes", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .waitForClose]
            }
            let metrics = try await failure(subject, server.url(), .clocks(idle: .milliseconds(400) * scale))
            try expect(metrics.firstByte != nil, "The first byte is unknown")
            try expectEqual(metrics.bytesReceived, 4, "bytes received")
        },
        ConformanceCheck("A timeout after a redirect measures the last hop alone", needs: [.network]) {
            subject,
            scale in
            let silent = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let redirect = "HTTP/1.1 302 Found\r\nLocation: \(silent.url())\r\nContent-Length: 0\r\n\r\n"
            let pause = Duration.milliseconds(400) * scale
            let server = try ScriptedServer { _ in [.receiveHead, .pause(pause), .send(redirect), .waitForClose] }
            let metrics = try await failure(subject, server.url(), .clocks(idle: .milliseconds(800) * scale))
            try expectEqual(metrics.hops.map { $0.metrics.firstByte != nil }, [true], "the first hop's first byte")
            try expectEqual(metrics.firstByte, nil, "the last hop's first byte")
            try expect(metrics.queue ?? .zero < pause, "The last hop waited \(metrics.queue ?? .zero) in the queue")
        },
        ConformanceCheck("A failure without a context is recorded with its time", needs: [.network]) { subject, scale in
            let pause = Duration.milliseconds(200) * scale
            let server = try ScriptedServer { _ in
                [.receiveHead, .pause(pause), .send("no HTTP at all\r\n\r\n"), .close]
            }
            let recorder = FlightRecorder()
            let stack = try subject.stack { $0.listeners = [recorder] }
            try await stack.observe(server.url()).onlyOutcome().expectBadResponse()
            try await eventually("the fetch is recorded") { recorder.records.count == 1 }
            let total = recorder.records.first?.metrics.total ?? .zero
            try expect(total >= pause, "The recorded time is \(total)")
        },
        ConformanceCheck("A rejected body has the metrics of its response") { subject in
            struct Spoiled: Error {}
            let peer = try subject.serve { _ in .ok("x") }
            let spoil = AsyncParts(transform: { _, _ in throw Spoiled() })
            let outcome = try await subject.stack().observe(.intercepted(peer.url("/"), by: [spoil])).onlyOutcome()
            guard case .failure(.interceptor(_ as Spoiled, let context)) = outcome else {
                throw ConformanceFailure("Expected interceptor, saw \(outcome.summary)")
            }
            try expectEqual(context.url, peer.url("/"), "the URL")
            try expect(context.metrics.total > .zero, "The total is \(context.metrics.total)")
        },
        ConformanceCheck("A body that is cut off has the bytes that came", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]
            }
            let metrics = try await failure(subject, server.url())
            try expectEqual(metrics.bytesReceived, 4, "bytes received")
            try expect(metrics.firstByte != nil, "The first byte is unknown")
        },
        ConformanceCheck("A failure's wait for a connection excludes the making of its request", needs: [.network]) {
            subject,
            scale in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let request = try HTTP.Request(url: server.url())
            let make: @Sendable () async throws -> HTTP.Request = {
                try await Task.sleep(for: .milliseconds(500) * scale)
                return request
            }
            let slow = AsyncInterceptor { _, next in try await next(try await make()) }
            for isIntercepted in [false, true] {
                let stack = try subject.stack {
                    $0.options.timeouts.idle = .milliseconds(200) * scale
                    $0.interceptors = isIntercepted ? [slow] : []
                }
                let resource = ConformanceSubject.Stack.Resource(
                    baseRequestMaking: isIntercepted ? .request(request) : .task(make)
                )
                let queue = try metrics(of: try await stack.observe(resource).onlyOutcome()).queue
                try expect((queue ?? .zero) < .milliseconds(250) * scale, "The wait was \(queue as Any)")
            }
        },
        ConformanceCheck(
            "A compressed body that is cut off counts no more than came",
            needs: [.network, .decompression]
        ) { subject in
            let client = try subject.streaming()
            // The last two lengths together are too large for an Int64.
            for length in ["100000", "9000000000000000000", "9000000000000000000"] {
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(length)\r\n\r\n"
                let server = try ScriptedServer { _ in [.receiveHead, .send(head), .send(Compressed.gzip), .close] }
                let opened = try await client.open(server.url())
                let error = try await streamFailure { _ = try await opened.value.collect() }
                let count = (error as? any HTTPError)?.context?.metrics.bytesReceived ?? .max
                let most = Int64(max(Compressed.gzip.count, Compressed.text.count))
                try expect(count <= most, "\(count) bytes received")
            }
            let gauge = await client.stack.gauges.bytesReceived
            try expect(gauge < 100_000, "\(gauge) bytes in the gauges")
        },
        ConformanceCheck("A failure without a connection names its request's URL") { subject, scale in
            let peer = try subject.serve { _ in .status(503) }
            let unsent = try await subject.stack().observe(
                peer.url("/a?k=secret"),
                method: .PUT,
                body: .file(path: "/no/such/file")
            ).onlyOutcome()
            try expectEqual(try context(of: unsent).url, peer.url("/a?…"), "the URL of a request whose file is missing")
            let delayed = try subject.stack {
                $0.options.timeouts.total = .milliseconds(400) * scale
                $0.interceptors = [Spy("retry").with { $0.vote = { _ in .retryAfter(60) } }]
            }
            let late = try await delayed.observe(peer.url("/b?k=secret")).onlyOutcome()
            try expectEqual(try context(of: late).url, peer.url("/b?…"), "the URL of a fetch that waits to be retried")
        },
        ConformanceCheck("Metrics list earlier attempts and redirects in order") { subject in
            let count = Lock(0)
            let peer = try subject.serve { request in
                if request.path.hasSuffix("/start") { return .redirect(to: "/next?k=secret") }
                count.withLock { $0 += 1 }
                return count.withLock { $0 } == 1 ? .status(503) : .ok("four")
            }
            let stack = try subject.stack { $0.interceptors = [HTTPRetryPolicy.maxRetries(1)] }
            let metrics = try await stack.observe(peer.url("/start?k=secret")).onlyOutcome().value().response.metrics
            try expectEqual(
                metrics.hops.map {
                    "\($0.attempt) \($0.status?.rawValue ?? 0) \($0.url?.split(separator: "/").last ?? "")"
                },
                ["1 302 start?…", "1 503 next?…", "2 302 start?…"],
                "the hops before the last"
            )
            try expectEqual(metrics.hops.map { $0.failure == nil }, [true, false, true], "hops without a failure")
            try expectEqual(metrics.hopCount, 2, "requests of the last attempt")
            try expect(metrics.hops.allSatisfy { $0.metrics.hops.isEmpty }, "A hop has earlier hops")
        },
    ]

    private static func failure(
        _ subject: ConformanceSubject,
        _ url: String,
        _ options: HTTP.Options? = nil
    ) async throws -> HTTP.Metrics {
        try metrics(of: try await subject.stack().observe(url, options: options).onlyOutcome())
    }

    private static func metrics(of outcome: Outcome) throws -> HTTP.Metrics { try context(of: outcome).metrics }

    private static func context(of outcome: Outcome) throws -> HTTP.FetchContext {
        guard case .failure(let error) = outcome, let context = error.context else {
            throw ConformanceFailure("Expected a failure with a context, saw \(outcome)")
        }
        return context
    }
}
