import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import CurlStack
@testable import NetworkStack

/// Reads random responses that come in random pieces, one after the other with one reader.
@Suite("ResponseReader in random histories")
struct ResponseReaderHistoriesTests {
    private func hop(limit: Int64, collects: Bool) throws -> HTTPHop {
        var options = HTTP.Options()
        options.limits.body = limit
        let (request, origin, text, _) = try HTTP.Request(url: "http://127.0.0.1/").checked()
        return HTTPHop(
            request: request,
            origin: origin,
            urlText: text,
            options: Shared(options),
            trust: .ordinary,
            source: nil,
            allowsWithholding: collects
        )
    }

    @Test("delivers each body in order and no more than the limit, and forgets it", arguments: 0..<200)
    func bodies(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let reader = ResponseReader()
        for _ in 0..<10 {
            let (limit, size) = (Int64.random(in: 0...5000, using: &random), Int.random(in: 0...6000, using: &random))
            let collects = Bool.random(using: &random)
            let hop = try hop(limit: limit, collects: collects)
            let lines = ["HTTP/1.1 103 \r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "Content-Length: \(size)\r\n", "\r\n"]
            let steps = lines.map { reader.head.read(Array($0.utf8).span) }
            #expect(steps.count { $0 == .final } == 1 && reader.head.contentLength == Int64(size))
            var (given, taken, hasFailed) = ([UInt8](), Data(), false)
            while given.count < size, !hasFailed {
                let count = min(size - given.count, .random(in: 1...800, using: &random))
                let piece = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                given += piece
                hasFailed = reader.read(piece.span.bytes, of: hop) != nil
                if !collects, Bool.random(using: &random) { taken += reader.body.take() }
            }
            taken += reader.body.take()
            #expect(hasFailed == (collects && Int64(given.count) > limit))
            #expect(hasFailed || taken == Data(given))
            #expect(reader.rawCount == Int64(given.count) && reader.bodyCount == reader.rawCount)
            reader.startOver()
            #expect(!reader.head.hasBegun && reader.head.contentLength == nil && reader.body.count == 0)
            #expect(reader.rawCount == 0 && reader.bodyCount == 0 && reader.reported == (0, 0))
        }
    }
}
