import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Ranges of the encoded body.
    static let ranges: [ConformanceCheck] = [
        ConformanceCheck("A range request asks for no content coding", needs: [.decompression]) { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            let own: HTTP.Headers = [.range: "bytes=0-3", .acceptEncoding: "gzip"]
            for headers in [[.range: "bytes=0-3"], own, [:]] {
                _ = try await client.get(peer.url("/"), headers: headers)
            }
            let asked = peer.requests().map { $0.values(of: "Accept-Encoding") }
            try expectEqual(asked.prefix(2), [["identity"], ["gzip"]], "Accept-Encoding")
            try expect(asked.last?.first?.contains("gzip") ?? false, "Accept-Encoding lacks gzip without a range")
        },
        ConformanceCheck("nginx's range of a compressible file arrives as a range", needs: [.network]) { subject in
            let nginx = try await RealServers.shared.nginx()
            let headers: HTTP.Headers = [.range: "bytes=100-199"]
            let part = try await subject.client().get(nginx.httpURL("/gzip/text"), headers: headers)
            try expectEqual(part.response.status, .partialContent, "the status")
            try expectBytes(part.value, ServedFiles.text.utf8.dropFirst(100).prefix(100))
        },
    ]
}
