import FoundationEssentials
import NetworkStackTesting

@testable import CurlStack
@testable import NetworkStack

/// Responses in random pieces, one after the other, with readers that one transfer takes after the other.
final class ResponseReaderHistory: History {
    static let subject = "ResponseReader"

    private let seed: UInt64
    private var random: SeededRandom
    private let readers = ResponseReader.Pool()
    private var steps = 0

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
    }

    private func must(_ sentence: String, _ holds: Bool) throws(HistoryFault) {
        guard holds else { throw HistoryFault(seed: seed, subject: Self.subject, sentence) }
    }

    func run() throws -> Int {
        for _ in 0..<10 { try read() }
        return steps
    }

    private func read() throws {
        let response = HistoryResponse(&random)
        let limits = [
            1 << 30, random.number(below: 3000), max(0, response.content.count - 2 + random.number(below: 4)),
        ]
        let limit = Int64(random.pick(limits) ?? 0)
        let hop = try HTTPHop.ofHistory(bodyLimit: limit, allowsWithholding: random.chance(2))
        let reader = readers.take(limits: hop.options.limits)
        try checkEmpty(reader)
        for place in response.head.indices {
            try read(head: response.head[place], reader, isLast: place == response.head.count - 1)
        }
        let length = response.framing == .length ? Int64(response.wire.count) : nil
        try must("The length is that of the last head.", reader.head.contentLength == length)

        var (place, taken, failure) = (0, Data(), HTTPTransferFailure<CurlError>?.none)
        while place < response.wire.count, failure == nil {
            steps += 1
            let piece = response.wire[place..<min(place + 1 + random.number(below: 800), response.wire.count)]
            place += piece.count
            failure = reader.read(Array(piece).span.bytes, of: hop)
            try must("Every received byte is counted.", reader.rawCount == Int64(place))
            if !hop.allowsWithholding, random.chance(2) { taken += reader.body.take() }
            if random.chance(60) { break }
        }
        try checkEnd(of: reader, response, place, failure, hop)
        taken += reader.body.take()
        try must("A body is delivered in order.", taken.elementsEqual(response.content.prefix(taken.count)))
        let isAll = taken.count == Int(reader.bodyCount)
        try must("All decoded bytes are delivered.", failure != nil || isAll)
        if random.chance(2) {
            reader.startOver()
            try checkEmpty(reader)
        }
        readers.keep(reader)
    }

    private func read(head line: [UInt8], _ reader: ResponseReader, isLast: Bool) throws {
        steps += 1
        let mayFollow = reader.head.hasField || reader.head.mayFollow(line.span.bytes)
        let step = reader.head.read(line.span)
        if case .refused = step { try must("A head is read, whatever was read before.", false) }
        try must("A head may follow another.", mayFollow)
        try must("A head is complete at its blank line.", reader.head.isComplete == (step == .final))
        try must("The last of the heads is the final one.", isLast == (step == .final))
    }

    private func checkEnd(
        of reader: ResponseReader,
        _ response: HistoryResponse,
        _ place: Int,
        _ failure: HTTPTransferFailure<CurlError>?,
        _ hop: HTTPHop
    ) throws {
        let limit = hop.options.limits.body
        let isTooLong = hop.allowsWithholding && reader.bodyCount > limit
        switch failure {
        case nil: try must("A body longer than the limit fails.", !isTooLong)
        case .bodyTooLarge: try must("A body within the limit does not fail.", isTooLong)
        default: try must("A body that can be decoded does not fail.", false)
        }
        guard failure == nil, place == response.wire.count else { return }
        try must("A body is decoded to its end.", reader.bodyCount == response.content.count)
        try must("The end of a coding is noticed.", reader.decoder?.isFinished ?? true)
    }

    private func checkEmpty(_ reader: ResponseReader) throws {
        try must("A reader starts over without a head.", !reader.head.hasBegun && reader.head.status == nil)
        try must("A reader starts over without a length.", reader.head.contentLength == nil && !reader.head.isChunked)
        try must("A reader starts over without a body.", reader.body.count == 0 && reader.bodyCount == 0)
        try must("A reader starts over without a count.", reader.rawCount == 0 && reader.reported == (0, 0))
        try must("A reader starts over without a decoder.", reader.decoder == nil)
    }
}
