import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// HTTP/2, negotiated over TLS or by prior knowledge, with independent servers.
    static let http2: [ConformanceCheck] = negotiatedHTTP2 + sharedConnections + limitedStreams + priorKnowledge

    static let needsHTTP2: Set<HTTP.Capability> = [.network, .http2, .customTrustRoots]

    private static let negotiatedHTTP2: [ConformanceCheck] = [
        ConformanceCheck("TLS negotiates HTTP/2 where the server offers it", needs: needsHTTP2) { subject in
            let (nginx, client) = try await nginx(subject)
            let fetched = try await client.get(nginx.httpsURL("/echo?a=b"), headers: ["X-Echo": "echoed"])
            try expectEqual(fetched.response.version, .http2, "the version")
            try expectBytes(fetched.value, "GET /echo?a=b HTTP/2.0 echoed\n".utf8)
            try expectEqual(
                try await nginx.waitForLog { $0.count == 1 }.map(\.serverProtocol),
                ["HTTP/2.0"],
                "the version"
            )
        },
        ConformanceCheck(
            "HTTP/1.1 is used on request, whatever the server offers",
            needs: needsHTTP2.union([.versionChoice])
        ) { subject in
            let (nginx, client) = try await nginx(subject)
            var options = HTTP.Options()
            options.version = .http1_1
            let request = try HTTP.Request(url: nginx.httpsURL("/echo"))
            // HTTP/2 first: a pooled HTTP/2 connection must not be used.
            try expectEqual(await client.success(request).response.version, .http2, "the version")
            try expectEqual(await client.success(request, options: options).response.version, .http1_1, "the version")
            try expectEqual(await client.success(request).response.version, .http2, "the version")
            let log = try await nginx.waitForLog { $0.count == 3 }
            try expectEqual(log.map(\.serverProtocol), ["HTTP/2.0", "HTTP/1.1", "HTTP/2.0"], "the versions")
        },
        ConformanceCheck(
            "A stack limited to HTTP/1.1 does not offer HTTP/2",
            needs: [.network, .customTrustRoots, .versionChoice]
        ) { subject in
            let certificates = try TestCertificates.shared()
            let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2", "http/1.1"])
            let server = try ScriptedServer.responding(options) { _ in .ok("done") }
            let client = try subject.client { configuration in
                configuration.tls.trustRoots = .file(path: certificates.caFile)
                configuration.options.version = .http1_1
            }
            try expectEqual(await client.get(server.url()).response.version, .http1_1, "the version")
            try expect(server.connections.first?.tls?.applicationProtocol != "h2", "HTTP/2 was offered")
        },
        ConformanceCheck("HTTP/1.1 is used with a TLS server without HTTP/2", needs: needsHTTP2) { subject in
            let certificates = try TestCertificates.shared()
            for protocols in [["http/1.1"], []] {
                let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: protocols)
                let server = try ScriptedServer.responding(options) { _ in .ok("done") }
                let client = try subject.client { $0.tls.trustRoots = .file(path: certificates.caFile) }
                try expectEqual(await client.get(server.url()).response.version, .http1_1, "the version")
                try expectEqual(
                    server.connections.first?.tls?.applicationProtocol,
                    protocols.first,
                    "the negotiated protocol"
                )
            }
        },
        ConformanceCheck("Cleartext fetches use HTTP/1.1 and offer no other protocol", needs: [.network, .http2]) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            _ = try await subject.client().get(server.url())
            try expectEqual(server.requests.first?.version, "HTTP/1.1", "the version")
            for field in ["Upgrade", "HTTP2-Settings"] {
                try expectEqual(server.requests.first?.values(of: field), [], field)
            }
        },
        ConformanceCheck("Every method and body goes over HTTP/2", needs: needsHTTP2) { subject in
            let (nginx, client) = try await nginx(subject)
            for method in [HTTP.Method.GET, .POST, .PUT, .PATCH, .DELETE, .OPTIONS, "PROPFIND"] {
                let fetched = try await client.success(HTTP.Request(method: method, url: nginx.httpsURL("/echo")))
                try expectBytes(fetched.value, "\(method) /echo HTTP/2.0 \n".utf8, "\(method)")
            }
            let head = try await client.success(HTTP.Request(method: .HEAD, url: nginx.httpsURL("/bytes/64k")))
            try expectEqual(head.response.headers[.contentLength], "65536", "Content-Length")
            try expectEqual(head.value.count, 0, "the body")
            let content = patternBytes(300_000)
            let put = try HTTP.Request(method: .PUT, url: nginx.httpsURL("/upload/one"), body: .bytes(content))
            var options = HTTP.Options()
            options.allowsEmptyBody = true
            _ = try await client.success(put, options: options)
            try expectBytes(nginx.uploadedFile("one") ?? [], content)
            try expectEqual(Set(try await nginx.waitForLog { $0.count == 9 }.map(\.connection)).count, 1, "connections")
        },
        ConformanceCheck("Every character of a target goes over HTTP/2 unchanged", needs: needsHTTP2) { subject in
            let (nginx, client) = try await nginx(subject)
            let target = "/echo?a=%2fb%2F%c3%BC"
            try expectBytes(await client.get(nginx.httpsURL(target)).value, "GET \(target) HTTP/2.0 \n".utf8)
        },
        ConformanceCheck("A header value with surrounding blanks goes over HTTP/2", needs: needsHTTP2) { subject in
            let (nghttpd, client) = try await nghttpd(subject, .init())
            for value in ["x ", " x", "x\t", " ", "\t"] {
                let fetched = try await client.get(nghttpd.url("/json"), headers: ["X-Blank": value])
                try expectBytes(fetched.value, ServedFiles.json.utf8, value.debugDescription)
            }
        },
        ConformanceCheck("Statuses over HTTP/2 equal those over HTTP/1.1", needs: needsHTTP2) { subject in
            let (nginx, client) = try await nginx(subject)
            for code in [400, 401, 404, 418, 500, 503] {
                let request = try HTTP.Request(url: nginx.httpsURL("/status/\(code)"))
                try expectEqual(await client.unsuccessful(request).status.rawValue, code, "the status")
            }
            try expectEqual(await client.get(nginx.httpsURL("/status/204")).response.status, .noContent, "the status")
        },
        ConformanceCheck("Redirects are followed over HTTP/2", needs: needsHTTP2) { subject in
            let (nginx, client) = try await nginx(subject)
            for code in [301, 302, 303, 307, 308] {
                let fetched = try await client.get(nginx.httpsURL("/redirect/\(code)"))
                try expectBytes(fetched.value, ServedFiles.json.utf8)
                try expectEqual(fetched.response.redirects.map(\.status.rawValue), [code], "the redirects")
            }
            try expectEqual(
                Set(try await nginx.waitForLog { $0.count == 10 }.map(\.connection)).count,
                1,
                "connections"
            )
        },
        ConformanceCheck("A body without a length arrives whole over HTTP/2", needs: needsHTTP2) { subject in
            var options = NghttpdServer.Options()
            options.sendsContentLength = false
            let (nghttpd, client) = try await nghttpd(subject, options)
            for (name, size) in ServedFiles.sizes where size > 0 {
                let fetched = try await client.get(nghttpd.url("/bytes/\(name)"))
                try expectBytes(fetched.value, BytePattern.bytes(size), name)
                try expectEqual(fetched.response.headers[.contentLength], nil, "Content-Length")
            }
        },
        ConformanceCheck("Trailers are delivered over HTTP/2", needs: needsHTTP2.union([.trailers])) { subject in
            var options = NghttpdServer.Options()
            options.trailers = [("x-checksum", "abc")]
            options.sendsContentLength = false
            let (nghttpd, client) = try await nghttpd(subject, options)
            let fetched = try await client.get(nghttpd.url("/json"))
            try expectBytes(fetched.value, ServedFiles.json.utf8)
            try expectEqual(fetched.response.trailers?["X-Checksum"], "abc", "X-Checksum")
            try expectEqual(fetched.response.headers["X-Checksum"], nil, "X-Checksum among the headers")
        },
    ]

    /// A running nginx and a client that trusts it.
    static func nginx(
        _ subject: ConformanceSubject,
        _ options: NginxServer.Options = .init(),
        _ configure: (inout Network.Configuration) throws -> Void = { _ in }
    ) async throws -> (NginxServer, BoundedClient) {
        let certificates = try TestCertificates.shared()
        let server = try NginxServer(options)
        try await server.start()
        let client = try subject.client { configuration in
            configuration.tls.trustRoots = .file(path: certificates.caFile)
            try configure(&configuration)
        }
        return (server, client)
    }

    /// A running nghttpd and a client that trusts it.
    static func nghttpd(
        _ subject: ConformanceSubject,
        _ options: NghttpdServer.Options = .init(),
        _ configure: (inout Network.Configuration) throws -> Void = { _ in }
    ) async throws -> (NghttpdServer, BoundedClient) {
        let certificates = try TestCertificates.shared()
        let server = try NghttpdServer(options)
        try await server.start()
        let client = try subject.client { configuration in
            if options.usesTLS {
                configuration.tls.trustRoots = .file(path: certificates.caFile)
            } else {
                configuration.options.version = .http2PriorKnowledge
            }
            try configure(&configuration)
        }
        return (server, client)
    }
}
