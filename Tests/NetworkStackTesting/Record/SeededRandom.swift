/// Random numbers that are the same in each run with the same seed (SplitMix64).
package struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to a bound, which is above zero and not reached.
    package mutating func number(below bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Whether something happens that happens once in so many times.
    package mutating func chance(_ one: Int) -> Bool { number(below: one) == 0 }

    /// An element, or `nil` if there is none.
    package mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[number(below: elements.count)]
    }
}
