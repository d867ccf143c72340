/// Encodes labels beyond ASCII as A-labels (RFC 3492), for lists that use U-labels.
enum Punycode {
    /// The A-label of a label in lower case and normal form, or `nil` if it has none.
    static func label(_ label: some StringProtocol) -> String? {
        let scalars = label.unicodeScalars.map { Int($0.value) }
        let basic = scalars.filter { $0 < 0x80 }
        if basic.count == scalars.count { return String(label) }
        var output = basic.compactMap { UInt8(exactly: $0) }
        if !basic.isEmpty { output.append(UInt8(ascii: "-")) }
        var (next, delta, bias, handled) = (0x80, 0, 72, basic.count)
        while handled < scalars.count {
            guard let smallest = scalars.filter({ $0 >= next }).min() else { return nil }
            delta += (smallest - next) * (handled + 1)
            next = smallest
            for scalar in scalars {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic.count)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return "xn--" + String(decoding: output, as: UTF8.self)
    }

    private static func append(_ delta: Int, bias: Int, to output: inout [UInt8]) {
        var (rest, base) = (delta, 36)
        while true {
            let threshold = min(max(base - bias, 1), 26)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            base += 36
        }
        output.append(digit(rest))
    }

    private static func digit(_ value: Int) -> UInt8 { UInt8(value < 26 ? value + 97 : value + 22) }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias = 0
        while delta > 455 {
            delta /= 35
            bias += 36
        }
        return bias + 36 * delta / (delta + 38)
    }
}
