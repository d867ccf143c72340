import Foundation
import Testing

@testable import CurlStack

@Suite("Content decoders")
struct ContentDecoderTests {
    /// Makes one zero after the other, `count` of them of every byte.
    private final class Multiplier: ContentDecoder {
        let count: Int
        let isFinished = true

        init(count: Int) { self.count = count }

        func decode(_ bytes: RawSpan, _ take: (RawSpan) -> Bool) -> DecodingStep {
            guard count > 0 else { return .goOn }
            let zeros = [UInt8](repeating: 0, count: count)
            for _ in 0..<bytes.byteCount where !take(zeros.span.bytes) { return .stopped }
            return .goOn
        }
    }

    /// 65,536 zeros, twice what is decoded at once.
    private static let zeros: [(coding: String, bytes: [UInt8])] = [
        (
            "gzip",
            "H4sIAAAAAAACA+3BAQEAAACAkP6v7ggKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAauuOl9cAAAEA"
        ),
        (
            "deflate",
            "eNrtwQEBAAAAgJD+r+4ICgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGoADwAB"
        ),
        ("br", "E///ACQA4rFAcu8BAA=="),
        ("zstd", "KLUv/QRYVQAAEAAAAQD7fx1gAaQVV/E="),
    ].map { ($0, Array(Data(base64Encoded: $1) ?? Data())) }

    private func decode(_ pieces: [[UInt8]], by decoder: any ContentDecoder) -> (count: Int, steps: [DecodingStep]) {
        var count = 0
        var steps: [DecodingStep] = []
        for piece in pieces {
            let step = decoder.decode(piece.span.bytes) { decoded in
                count += decoded.byteCount
                return true
            }
            steps.append(step)
        }
        return (count, steps)
    }

    @Test("exist for every coding that libcurl was built with")
    func available() { #expect(ContentCoding.available == [.gzip, .deflate, .br, .zstd]) }

    @Test("decode content that is split anywhere, and detect its end", arguments: zeros)
    func pieces(_ coding: String, _ bytes: [UInt8]) throws {
        for place in 0...bytes.count {
            let decoder = try #require(ContentCoding.decoder(for: [coding]))
            let (first, second) = (Array(bytes[..<place]), Array(bytes[place...]))
            let begun = decode([first], by: decoder)
            #expect(begun.steps == [.goOn], "\(coding) up to \(place)")
            #expect(decoder.isFinished == (place == bytes.count), "\(coding) up to \(place)")
            // Decoded bytes are delivered at once: the reader of a stream must not wait for later ones.
            let trailer = ["gzip": 8, "deflate": 4, "zstd": 4][coding] ?? 0
            #expect(begun.count == 65_536 || place < bytes.count - trailer, "\(coding) up to \(place)")
            let ended = decode([second], by: decoder)
            #expect(ended.steps == [.goOn], "\(coding) from \(place)")
            #expect(begun.count + ended.count == 65_536 && decoder.isFinished, "\(coding) at \(place)")
        }
    }

    @Test("refuse content that does not match the coding", arguments: zeros)
    func corrupt(_ coding: String, _ bytes: [UInt8]) throws {
        let decoder = try #require(ContentCoding.decoder(for: [coding]))
        let noise = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }
        #expect(decode([noise], by: decoder).steps == [.corrupt], "\(coding)")
        // Also within another coding, whose reader must get the reason.
        let outer = Multiplier(count: 1)
        let inner = try #require(ContentCoding.decoder(for: ["gzip"]))
        #expect(decode([[1, 2, 3]], by: NestedDecoder([outer, inner])).steps == [.corrupt])
        let noisy = NestedDecoder([try #require(ContentCoding.decoder(for: [coding])), outer])
        #expect(decode([noise], by: noisy).steps == [.corrupt], "\(coding)")
    }

    @Test("accept a limited padding after the end", arguments: zeros.filter { $0.coding != "zstd" })
    func padding(_ coding: String, _ bytes: [UInt8]) throws {
        for (pieces, last) in [
            ([bytes + Array(repeating: 0, count: 65_536)], DecodingStep.goOn),
            ([bytes + Array(repeating: 0, count: 65_537)], .corrupt),
            ([bytes + [0], Array(repeating: 0, count: 65_535)], .goOn),
            ([bytes + [0], Array(repeating: 0, count: 65_536)], .corrupt),
        ] {
            let decoder = try #require(ContentCoding.decoder(for: [coding]))
            let (count, steps) = decode(pieces, by: decoder)
            #expect(steps.last == last && count == 65_536, "\(coding), \(pieces.map(\.count))")
        }
    }

    @Test("nested decoders bound each intermediate result and end with the last")
    func nested() throws {
        let half = ContentCoding.pieceLimit / 2
        let nested = NestedDecoder([Multiplier(count: half), Multiplier(count: 0)])
        #expect(decode([[1, 2], [1, 2], [1, 2]], by: nested).steps == [.goOn, .goOn, .goOn])
        #expect(decode([[1, 2, 3]], by: nested).steps == [.excessive])
        let twice = try #require(ContentCoding.decoder(for: ["gzip", "gzip"]))
        #expect(!twice.isFinished)
        let cut = NestedDecoder([Multiplier(count: 1), try #require(ContentCoding.decoder(for: ["gzip"]))])
        #expect(!cut.isFinished)
    }

    @Test("do not exist for unknown codings, or for too many")
    func none() {
        #expect(ContentCoding.decoder(for: ["gzip", "secret"]) == nil)
        #expect(ContentCoding.decoder(for: Array(repeating: "gzip", count: 5)) != nil)
        #expect(ContentCoding.decoder(for: Array(repeating: "gzip", count: 6)) == nil)
    }
}
