import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// A compressed body is delivered decompressed, or not at all.
    static let compression: [ConformanceCheck] =
        ["gzip", "deflate", "br", "zstd"].map(decodesIfOffered)
        + [
            decodes("gzip", as: "gzip"),
            decodes("gzip in capitals", as: "GZIP"),
            decodes("gzip under its old name", as: "x-gzip"),
            decodes("deflate", as: "deflate", Compressed.deflate),
            ConformanceCheck("A content coding named none is ignored") { subject in
                let peer = try subject.serve { _ in .ok("plain", headers: [("Content-Encoding", "None")]) }
                try expectBytes(await subject.client().get(peer.url("/")).value, "plain".utf8)
            },
            ConformanceCheck("A chunked gzip body is decoded", needs: [.network]) { subject in
                var framed: [UInt8] = []
                for start in stride(from: 0, to: Compressed.gzip.count, by: 7) {
                    let piece = Compressed.gzip.dropFirst(start).prefix(7)
                    framed += Array("\(piece.count)\r\n".utf8) + piece + Array("\r\n".utf8)
                }
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                let reply = Reply(head: Array(head.utf8), body: framed + Array("0\r\n\r\n".utf8))
                let peer = try subject.serve { _ in reply }
                try expectBytes(await subject.client().get(peer.url("/")).value, Compressed.text)
            },
            ConformanceCheck("A gzip body that ends with the connection is decoded", needs: [.network]) { subject in
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"),
                        .send(Compressed.gzip), .close,
                    ]
                }
                try expectBytes(await subject.client().get(server.url()).value, Compressed.text)
            },
            ConformanceCheck("A body compressed twice is decoded twice or refused") { subject in
                // gzip around gzip, the outer one in stored blocks. Bytes that are still compressed must not be delivered.
                let peer = try subject.serve { _ in
                    .ok(bytes: Compressed.gzipOfGzip, headers: [("Content-Encoding", "gzip, gzip")])
                }
                switch try await subject.client().outcome(of: HTTP.Request(url: peer.url("/"))) {
                case .success(let fetched): try expectBytes(fetched.value, Compressed.text)
                case .failure(.transport), .failure(.badResponse), .failure(.unknownCoding): break
                case .failure(let error) where error.isRefusal: break
                case .failure(let error): throw ConformanceFailure("failed with \(error)")
                }
            },
            ConformanceCheck("A body in an undecodable coding is a failure", needs: [.strictReplies]) {
                subject in
                for codings in ["secret", "gzip, secret", "secret, gzip", "gzip, gzip, gzip, gzip, gzip, gzip"] {
                    let peer = try subject.serve { _ in
                        .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", codings)])
                    }
                    let client = try subject.client()
                    _ = try await client.breakdown(HTTP.Request(url: peer.url("/")))
                    // A caller who wants the body as sent gets it.
                    guard subject.capabilities.supports(.disablingDecompression) else { continue }
                    var options = HTTP.Options()
                    options.decompresses = false
                    let raw = try await client.success(HTTP.Request(url: peer.url("/")), options: options)
                    try expectBytes(raw.value, Compressed.gzip, codings)
                }
            },
            ConformanceCheck("The body of an error response is decoded too") { subject in
                let peer = try subject.serve { _ in
                    .status(500, bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")])
                }
                let seen = Lock<Data?>(nil)
                let decoding = BoundedClient.ErrorDecoding { payload, _ in
                    seen.withLock { $0 = payload }
                    return nil
                }
                _ = try await subject.client().unsuccessful(HTTP.Request(url: peer.url("/")), decoding: decoding)
                try expectBytes(seen.withLock { $0 } ?? Data(), Compressed.text)
            },
            ConformanceCheck("A response without a body may declare compression") { subject in
                let peer = try subject.serve { request in
                    switch request.path.suffix(3) {
                    case "204": .status(204, headers: [("Content-Encoding", "gzip")])
                    case "304": .status(304, headers: [("Content-Encoding", "gzip")])
                    case "200": .status(200, headers: [("Content-Encoding", "gzip")])
                    default: .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")])
                    }
                }
                let client = try subject.client()
                _ = try await client.success(HTTP.Request(method: .HEAD, url: peer.url("/head")))
                _ = try await client.get(peer.url("/204"))
                let (status, _, _) = try await client.unsuccessful(HTTP.Request(url: peer.url("/304")))
                try expectEqual(status, .notModified, "the status")
                guard case .noData(200, _) = try await client.failure(HTTP.Request(url: peer.url("/200"))) else {
                    throw ConformanceFailure("expected no data")
                }
            },
            ConformanceCheck("A body in identity coding is delivered unchanged") { subject in
                let peer = try subject.serve { _ in .ok("plain", headers: [("Content-Encoding", "identity")]) }
                try expectBytes(await subject.client().get(peer.url("/")).value, "plain".utf8)
            },
            ConformanceCheck(
                "A compressed body is delivered unchanged if decompression is off",
                needs: [.disablingDecompression]
            ) {
                subject in
                let peer = try subject.serve { _ in .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")])
                }
                let fetched = try await subject.client { $0.options.decompresses = false }.get(peer.url("/"))
                try expectBytes(fetched.value, Compressed.gzip)
                try expectEqual(fetched.response.headers[.contentEncoding], "gzip", "Content-Encoding")
            },
            ConformanceCheck(
                "A stream that exceeds the decompression ratio fails",
                needs: [.network, .decompressionRatio]
            ) { subject in
                let peer = try subject.serve { request in
                    guard offers("zstd", request) else { return .ok(bytes: Compressed.text) }
                    return .ok(bytes: Compressed.zstdOfZstdBomb, headers: [("Content-Encoding", "zstd, zstd")])
                }
                try await needsOffer(of: "zstd", by: subject)
                let opened = try await subject.streaming().open(peer.url("/"))
                do {
                    let count = try await bounded(.seconds(30)) { try await opened.value.collect().count }
                    throw ConformanceFailure("\(count) bytes were delivered")
                } catch let error as ConformanceFailure {
                    throw error
                } catch {
                    try expect("\(error)".contains("4096 times"), "\(error)")
                }
            },
            ConformanceCheck(
                "A stream of highly compressed pieces is delivered whole",
                needs: [.network, .decompressionRatio],
                rests: [.rfc(1952, "2.2")]
            ) { subject in
                // gzip may consist of several members, one after the other (RFC 1952 section 2.2).
                let members = 256
                let content = Array((0..<members).map { _ in Compressed.bomb }.joined())
                let peer = try subject.serve { _ in .ok(bytes: content, headers: [("Content-Encoding", "gzip")]) }
                let opened = try await subject.streaming().open(peer.url("/"))
                let count = try await bounded(.seconds(60)) {
                    var count = 0
                    for try await chunk in opened.value { count += chunk.count }
                    return count
                }
                try expectEqual(count, members * Compressed.bombSize, "the body's length")
            },
            ConformanceCheck("Data after the end of a coding is not decoded", needs: [.network, .strictReplies]) {
                subject in
                let peer = try subject.serve { _ in
                    .ok(bytes: Compressed.paddedGzip, headers: [("Content-Encoding", "gzip, zstd")])
                }
                try await needsOffer(of: "zstd", by: subject)
                _ = try await subject.client().breakdown(HTTP.Request(url: peer.url("/")))
            },
            ConformanceCheck(
                "Data after the end of gzip is ignored, however it is split",
                needs: [.network, .strictReplies]
            ) { subject in
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                let pieces = [Compressed.gzip + [0], Compressed.gzip].map(chunk)
                for apart in [false, true] {
                    let server = try ScriptedServer { _ in
                        [.receiveHead, .send(head), .send(pieces[0])]
                            + (apart ? [.pause(.milliseconds(100))] : [])
                            + [.send(pieces[1] + Array("0\r\n\r\n".utf8)), .waitForClose]
                    }
                    let outcome = try await subject.client().outcome(of: HTTP.Request(url: server.url()))
                    let mayRefuse = !subject.capabilities.supports(.nonconformingHeads)  // as RFC 1952 does
                    if mayRefuse, case .failure(.transport) = outcome { continue }
                    try expectBytes(outcome.value().value, Compressed.text)
                }
            },
            ConformanceCheck(
                "A decoding error behind a slow reader surfaces when reading resumes",
                needs: [.network, .backPressure, .decompressionRatio]
            ) { subject in
                let (goOn, sent) = (Gate(), Gate())
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead, .send(head), .send(chunk(Compressed.bomb)), .wait(for: goOn),
                        .send(chunk(Compressed.corruptMember)), .pause(.milliseconds(150)), .open(sent), .waitForClose,
                    ]
                }
                let opened = try await subject.streaming().open(server.url())
                goOn.open()
                try await sent.opened()
                do {
                    _ = try await bounded(.seconds(20)) { try await opened.value.collect() }
                    throw ConformanceFailure("Corrupt data was delivered")
                } catch let error as ConformanceFailure {
                    throw error
                } catch {
                    try expect("\(error)".contains("BAD_CONTENT_ENCODING"), "\(error)")
                }
            },
            ConformanceCheck(
                "Compressed bytes that arrive slowly reset the idle timeout before decoding",
                needs: [.network, .decompressionRatio]
            ) { subject, scale in
                try await needsOffer(of: "zstd", by: subject)
                let content = Compressed.zstd
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead,
                        .send("HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: \(content.count)\r\n\r\n"),
                        .drip(content, every: .milliseconds(8) * scale),
                    ]
                }
                let client = try subject.client { $0.options.timeouts.idle = .milliseconds(500) * scale }
                try expectBytes(await client.get(server.url()).value, Compressed.text)
            },
            broken("Truncated gzip", "gzip", Array(Compressed.gzip.prefix(150))),
            broken("gzip without its checksum", "gzip", Array(Compressed.gzip.dropLast(8))),
            broken("gzip cut within its head", "gzip", Array(Compressed.gzip.prefix(5))),
            broken("Truncated deflate", "deflate", Array(Compressed.deflate.prefix(100))),
            broken("Corrupt gzip", "gzip", corrupt(Compressed.gzip, at: 60), needs: []),
            broken(
                "gzip with a wrong checksum",
                "gzip",
                corrupt(Compressed.gzip, at: Compressed.gzip.count - 6),
                needs: []
            ),
            broken("Text labelled as gzip", "gzip", Array("this is no gzip at all".utf8), needs: []),
            ConformanceCheck("Truncated br is a failure if br is offered", needs: [.strictReplies]) { subject in
                try await breaksIfOffered("br", Array(Compressed.br.prefix(90)), on: subject)
            },
            ConformanceCheck("Truncated zstd is a failure if zstd is offered", needs: [.strictReplies]) { subject in
                try await breaksIfOffered("zstd", Array(Compressed.zstd.prefix(90)), on: subject)
            },
        ]

    private static func decodes(_ what: String, as coding: String, _ bytes: [UInt8] = Compressed.gzip)
        -> ConformanceCheck
    {
        ConformanceCheck("A body in \(what) is decoded") { subject in
            let peer = try subject.serve { _ in .ok(bytes: bytes, headers: [("Content-Encoding", coding)]) }
            let fetched = try await subject.client().get(peer.url("/"))
            try expectBytes(fetched.value, Compressed.text)
            try expectEqual(
                fetched.response.decodedFrom.map { $0.lowercased() },
                [coding.lowercased()],
                "the removed codings"
            )
            try expectEqual(fetched.response.contentLength, nil, "the length of the response")
        }
    }

    private static func decodesIfOffered(_ coding: String) -> ConformanceCheck {
        ConformanceCheck("A response in \(coding) is decoded if the request offered it") { subject in
            let peer = try subject.serve { request in
                guard offers(coding, request) else { return .ok(bytes: Compressed.text) }
                return .ok(bytes: Compressed.byCoding[coding] ?? [], headers: [("Content-Encoding", coding)])
            }
            try expectBytes(await subject.client().get(peer.url("/")).value, Compressed.text)
            try needsOffer(of: coding, in: peer.requests())
        }
    }

    private static func needsOffer(of coding: String, by subject: ConformanceSubject) async throws {
        let peer = try subject.serve { _ in .ok("x") }
        _ = try await subject.client().get(peer.url("/"))
        try needsOffer(of: coding, in: peer.requests())
    }

    /// Whether a stack decodes br or zstd can be up to its libraries: it claims to decode only the codings that it offers.
    /// One chunk of a chunked body (RFC 9112 section 7.1).
    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    private static func breaksIfOffered(_ coding: String, _ bytes: [UInt8], on subject: ConformanceSubject) async throws
    {
        let peer = try subject.serve { request in
            offers(coding, request) ? .ok(bytes: bytes, headers: [("Content-Encoding", coding)]) : .status(404)
        }
        let failure = try await subject.client().failure(HTTP.Request(url: peer.url("/")))
        try needsOffer(of: coding, in: peer.requests())
        guard case .transport = failure else { throw ConformanceFailure("expected a failed transfer, saw \(failure)") }
    }

    private static func broken(
        _ what: String,
        _ coding: String,
        _ bytes: [UInt8],
        needs: Set<HTTP.Capability> = [.strictReplies]
    ) -> ConformanceCheck {
        ConformanceCheck("\(what) is a failure", needs: needs) { subject in
            let peer = try subject.serve { _ in .ok(bytes: bytes, headers: [("Content-Encoding", coding)]) }
            let client = try subject.client()
            _ = try await client.breakdown(HTTP.Request(url: peer.url("/")))
        }
    }

    private static func corrupt(_ bytes: [UInt8], at place: Int) -> [UInt8] {
        var bytes = bytes
        for offset in place..<(place + 4) { bytes[offset] ^= 0x5A }
        return bytes
    }
}
