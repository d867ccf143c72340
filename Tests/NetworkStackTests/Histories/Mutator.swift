import NetworkStackTesting

/// Makes invalid inputs of valid ones.
struct Mutator {
    var random: SeededRandom

    /// Bytes that parsers look for, and some that none should.
    private static let significant = Array("\"\\=;,: \t\r\n\0/-.+09azAZ*%\u{7F}".utf8) + [0x80, 0xC3, 0xEF, 0xFF]
    /// The most bytes of an input.
    private static let longest = 2048

    /// A valid input after one to eight mutations.
    mutating func input(from samples: [[UInt8]]) -> [UInt8] {
        var input = samples[random.number(below: samples.count)]
        for _ in 0...random.number(below: 8) { mutate(&input, samples) }
        return Array(input.prefix(Self.longest))
    }

    private mutating func mutate(_ input: inout [UInt8], _ samples: [[UInt8]]) {
        let (start, end) = range(of: input)
        switch random.number(below: 7) {
        case 0 where start < input.count: input[start] ^= 1 << UInt8(random.number(below: 8))
        case 1 where start < input.count: input[start] = Self.significant[random.number(below: Self.significant.count)]
        case 2: input.removeSubrange(start..<end)
        case 3: input.insert(contentsOf: input[start..<end], at: end)
        case 4: input.insert(contentsOf: input[start..<end], at: random.number(below: input.count + 1))
        case 5:
            let other = samples[random.number(below: samples.count)]
            let (from, to) = range(of: other)
            input.replaceSubrange(start..<end, with: other[from..<to])
        case 6 where random.number(below: 4) == 0: input.removeSubrange(end...)
        default: input.insert(Self.significant[random.number(below: Self.significant.count)], at: start)
        }
    }

    /// Where a piece of an input begins and ends; most are short.
    private mutating func range(of input: [UInt8]) -> (Int, Int) {
        let start = random.number(below: input.count + 1)
        let length = random.number(below: random.number(below: 4) == 0 ? input.count + 1 : 5)
        return (start, min(start + length, input.count))
    }
}
