import Foundation
import NetworkStackTesting

/// Inputs mutated from valid ones, each with a different seed.
struct InputHistories {
    /// The first seed; the others follow.
    let first: UInt64
    let count: Int
    /// Called with each seed before its input is parsed, so that a crash has one.
    var willRun: (UInt64) -> Void = { _ in }

    /// Parses every input twice.
    ///
    /// - Returns: Inputs run per parser.
    /// - Throws: ``HistoryFault`` for the first result that breaks a rule or differs from the same input's other result.
    func run() throws -> [String: Int] {
        var counts: [Int] = ParserUnderTest.all.map { _ in 0 }
        for offset in 0..<count {
            let seed = first &+ UInt64(offset)
            willRun(seed)
            counts[try run(seed)] += 1
        }
        return Dictionary(uniqueKeysWithValues: zip(ParserUnderTest.all.map(\.name), counts))
    }

    private func run(_ seed: UInt64) throws -> Int {
        let (index, parser, input) = Self.input(of: seed)
        let once = parser.parse(input)
        if let fault = once.fault {
            throw HistoryFault(seed: seed, subject: parser.name, "\(fault): \(Self.text(input))")
        }
        guard parser.parse(input).result == once.result else {
            throw HistoryFault(
                seed: seed,
                subject: parser.name,
                "another result the second time: \(Self.text(input))"
            )
        }
        return index
    }

    /// The inputs of a seed.
    static func input(of seed: UInt64) -> (index: Int, parser: ParserUnderTest, input: [UInt8]) {
        var random = SeededRandom(seed: seed)
        let index = random.number(below: ParserUnderTest.all.count)
        var mutator = Mutator(random: random)
        return (index, ParserUnderTest.all[index], mutator.input(from: ParserUnderTest.all[index].samples))
    }

    /// Parses each parser's inputs, repeated to a length and to thirty times that: the second may take 400 times as long, where
    /// parsing that is quadratic takes 900 times. Inputs that exceed the processor's cache also take several times as long.
    ///
    /// - Throws: ``HistoryFault`` if it takes longer, at best of several runs.
    static func checkLinearity(first: UInt64, perParser: Int, length: Int) throws {
        for parser in ParserUnderTest.all {
            for offset in 0..<perParser {
                let seed = first &+ UInt64(offset)
                var mutator = Mutator(random: SeededRandom(seed: seed))
                let piece = mutator.input(from: parser.samples)
                if piece.isEmpty { continue }
                // The shortest of five runs, or the first that is within the limit.
                func best(_ length: Int, upTo limit: Double = 0) -> Double {
                    let input = Array(repeatElement(piece, count: length / piece.count + 1).joined())
                    var best = Double.infinity
                    for _ in 0..<5 where best > limit { best = min(best, processorTime { _ = parser.parse(input) }) }
                    return best
                }
                let short = best(length)
                let limit = 400 * max(short, 0.00002)
                let long = best(30 * length, upTo: limit)
                if long > limit {
                    throw HistoryFault(
                        seed: seed,
                        subject: parser.name,
                        "\(short) s, thirty times as long \(long) s: \(text(piece))"
                    )
                }
            }
        }
    }

    /// The processor time of this thread for a closure, in seconds, which does not depend on the load of the machine.
    private static func processorTime(_ body: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        body()
        return now() - start
    }

    /// The memory that the process holds, in pages.
    static func residentPages() -> Int {
        let statm = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return statm.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    private static func text(_ input: [UInt8]) -> String { String(decoding: input, as: UTF8.self).debugDescription }
}
