import NetworkStackTesting

@testable import NetworkStack

/// A response as a server sends it.
struct HistoryResponse {
    enum Framing: CaseIterable {
        case length
        case chunks
        /// The body ends with the connection.
        case close
    }

    let framing: Framing
    /// Whether the body has a coding.
    let isCoded: Bool
    let content: [UInt8]
    /// The body as sent.
    let wire: [UInt8]
    let informational: [Int]
    /// The lines of its heads, informational ones first.
    let head: [[UInt8]]
    /// The lines of its trailers.
    let trailers: [[UInt8]]

    init(_ random: inout SeededRandom, overHTTP2: Bool = false) {
        framing = random.pick(overHTTP2 ? [.length, .close] : Framing.allCases) ?? .length
        isCoded = random.chance(3)
        content = (0..<random.number(below: 3000)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        wire = isCoded ? Self.deflated(content) : content
        informational = (0..<(random.chance(4) ? random.number(below: 20) : 0)).map { _ in 102 + random.number(below: 2)
        }
        let version = overHTTP2 ? "HTTP/2" : "HTTP/1.1"
        var lines = informational.flatMap { ["\(version) \($0) \r\n", "\r\n"] } + ["\(version) 200 OK\r\n"]
        if isCoded { lines.append("Content-Encoding: deflate\r\n") }
        switch framing {
        case .length: lines.append("Content-Length: \(wire.count)\r\n")
        case .chunks: lines.append("Transfer-Encoding: chunked\r\n")
        case .close: break
        }
        head = (lines + ["\r\n"]).map { Array($0.utf8) }
        trailers = framing == .chunks && random.chance(2) ? ["X: y\r\n", "\r\n"].map { Array($0.utf8) } : []
    }

    /// Data in stored blocks (RFC 1951 section 3.2.4) of a zlib stream (RFC 1950).
    private static func deflated(_ content: [UInt8]) -> [UInt8] {
        var (bytes, place): ([UInt8], Int) = ([0x78, 0x01], 0)
        repeat {
            let block = content[place..<min(place + 400, content.count)]
            place += block.count
            let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
            bytes += [place == content.count ? 1 : 0, low, high, ~low, ~high] + block
        } while place < content.count
        var (first, second): (UInt32, UInt32) = (1, 0)
        for byte in content {
            first = (first + UInt32(byte)) % 65_521
            second = (second + first) % 65_521
        }
        return bytes + [second >> 8, second, first >> 8, first].map { UInt8($0 & 0xFF) }
    }
}
