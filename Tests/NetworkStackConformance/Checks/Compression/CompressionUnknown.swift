import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Unknown codings, and the decoded codings in a response.
    static let codings: [ConformanceCheck] = unknownCodings + undoneCodings

    private static let unknownCodings: [ConformanceCheck] = [
        ConformanceCheck("The error names an unknown content coding and carries the response") { subject in
            for (value, unknown) in [("aws-chunked", "aws-chunked"), ("UTF-8", "UTF-8"), ("gzip, secret", "secret")] {
                let peer = try subject.serve { _ in
                    .ok("intact", headers: [("Content-Encoding", value), ("X-Here", "yes")])
                }
                let error = try await subject.client().failure(HTTP.Request(url: peer.url("/")))
                guard case .unknownCoding(let coding, let response) = error else {
                    throw ConformanceFailure("Expected an unknown coding, saw \(error)")
                }
                try expectEqual(coding, unknown, "the coding")
                try expectEqual(response.headers["X-Here"], "yes", "X-Here")
                try expectEqual(error.response?.status, .ok, "the response's status")
                try expectEqual(error.transportFailure, .decoding, "the kind")
            }
        },
        ConformanceCheck("An unknown coding of an empty body is no failure") { subject in
            let peer = try subject.serve { _ in .status(204, headers: [("Content-Encoding", "secret")]) }
            _ = try await subject.client().get(peer.url("/"))
        },
        ConformanceCheck("A redirect in an unknown coding is followed", needs: [.unknownCodings]) { subject in
            let peer = try subject.serve { request in
                request.path.hasSuffix("/next")
                    ? .ok("done")
                    : .status(302, "moved", headers: [("Location", "/next"), ("Content-Encoding", "secret")])
            }
            try expectBytes(await subject.client().get(peer.url("/")).value, "done".utf8)
        },
        ConformanceCheck("A body in an unknown coding passes if the options allow it", needs: [.unknownCodings]) {
            subject in
            let peer = try subject.serve { request in
                request.path.hasSuffix("/gzip")
                    ? .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")])
                    : .ok("intact", headers: [("Content-Encoding", "gzip, secret")])
            }
            let client = try subject.client { $0.options.passesUnknownCodings = true }
            let passed = try await client.get(peer.url("/"))
            try expectBytes(passed.value, "intact".utf8)
            try expectEqual(passed.response.decodedFrom, [], "the removed codings")
            try expectEqual(passed.response.contentLength, 6, "the length")
            try expectBytes(await client.get(peer.url("/gzip")).value, Compressed.text)
        },
    ]

    private static let undoneCodings: [ConformanceCheck] = [
        ConformanceCheck("A response lists the codings removed, and then has no length") { subject in
            let peer = try subject.serve { request in
                let status = Int(request.path.suffix(3)) ?? 200
                return .status(status, bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")])
            }
            let client = try subject.client()
            var responses = [try await client.get(peer.url("/")).response]
            responses.append(try await client.unsuccessful(HTTP.Request(url: peer.url("/404"))).response)
            responses.append(try await subject.streaming().open(peer.url("/")).response)
            let streamed = try await subject.streaming().outcome(of: peer.url("/500"))
            guard case .failure(.http(500, _, let failed)) = streamed else {
                throw ConformanceFailure("Expected the status 500")
            }
            responses.append(failed)
            for response in responses {
                try expectEqual(response.decodedFrom, ["gzip"], "the removed codings")
                try expectEqual(response.contentLength, nil, "the length")
                try expectEqual(response.headers[.contentEncoding], "gzip", "Content-Encoding")
                try expectEqual(response.headers[.contentLength], "\(Compressed.gzip.count)", "Content-Length")
            }
        },
        ConformanceCheck("A response with an unchanged body reports its length") { subject in
            let peer = try subject.serve { request in
                request.path.hasSuffix("/identity")
                    ? .ok("plain", headers: [("Content-Encoding", "identity")]) : .ok("plain")
            }
            let client = try subject.client()
            for path in ["/", "/identity"] {
                let response = try await client.get(peer.url(path)).response
                try expectEqual(response.decodedFrom, [], "the removed codings")
                try expectEqual(response.contentLength, 5, "the length")
            }
            let head = try await client.success(HTTP.Request(method: .HEAD, url: peer.url("/"))).response
            try expectEqual(head.contentLength, 5, "the length of HEAD")
        },
        ConformanceCheck("The response to HEAD lists no removed coding", needs: [.network]) { subject in
            let peer = try subject.serve { _ in .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")]) }
            let request = try HTTP.Request(method: .HEAD, url: peer.url("/"))
            let response = try await subject.client().success(request).response
            try expectEqual(response.decodedFrom, [], "the removed codings")
            try expectEqual(response.contentLength, Int64(Compressed.gzip.count), "the length")
        },
        ConformanceCheck("A response that is not decompressed reports its length", needs: [.disablingDecompression]) {
            subject in
            let peer = try subject.serve { _ in .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")]) }
            let response = try await subject.client { $0.options.decompresses = false }.get(peer.url("/")).response
            try expectEqual(response.decodedFrom, [], "the removed codings")
            try expectEqual(response.contentLength, Int64(Compressed.gzip.count), "the length")
        },
    ]
}
