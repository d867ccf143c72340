import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Compressed bodies that arrive in pieces, and decode to more than one buffer.
    static let compressionPieces: [ConformanceCheck] = [("br", Compressed.longBr), ("zstd", Compressed.longZstd)].map {
        coding,
        compressed in
        ConformanceCheck(
            "A long body in \(coding), if offered, is decoded however it arrives",
            needs: [.network]
        ) {
            subject in
            let text = (1...100).flatMap { _ in Compressed.text }
            for size in [compressed.count, 1, 7] {
                let server = try ScriptedServer.responding { request in
                    guard offers(coding, request) else { return .ok(bytes: text) }
                    var framed: [UInt8] = []
                    for start in stride(from: 0, to: compressed.count, by: size) {
                        let piece = compressed[start...].prefix(size)
                        framed += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
                    }
                    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nTransfer-Encoding: chunked\r\n\r\n"
                    return Reply(head: Array(head.utf8), body: framed + Array("0\r\n\r\n".utf8))
                }
                let content = try await subject.client().get(server.url()).value
                try expectBytes(content, text, "in pieces of \(size) bytes")
                try needsOffer(of: coding, in: server.requests)
            }
        }
    }
}
