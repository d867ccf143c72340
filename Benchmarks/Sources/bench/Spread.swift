/// A median and how far the rounds lie apart.
struct Spread: Codable, Sendable {
    let median: Double
    let lowest: Double
    let highest: Double

    init?(_ values: [Double]) {
        guard let lowest = values.min(), let highest = values.max() else { return nil }
        let sorted = values.sorted()
        median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        self.lowest = lowest
        self.highest = highest
    }

    /// What two clients' rounds, pair by pair, come to.
    ///
    /// - Parameters:
    ///   - own: One client's rounds.
    ///   - other: The other's.
    ///   - figure: What of a sample is compared.
    init?(_ own: [Sample], over other: [Sample]?, _ figure: (Sample) -> Double?) {
        guard let other, own.count == other.count else { return nil }
        let ratios = zip(own, other).compactMap { pair -> Double? in
            guard let left = figure(pair.0), let right = figure(pair.1), right > 0 else { return nil }
            return left / right
        }
        guard ratios.count == own.count else { return nil }
        self.init(ratios)
    }
}
