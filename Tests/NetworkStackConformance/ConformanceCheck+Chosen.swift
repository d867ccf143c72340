import Glibc

extension ConformanceCheck {
    /// The checks to run: all, or those that the environment selects.
    ///
    /// `CHECK` selects the checks whose names contain one of its lines. `SHARE`, such as `1/3`, selects every third of the rest,
    /// so that several processes can share the suite.
    public static let chosen: [ConformanceCheck] = {
        let lines = getenv("CHECK").map { String(cString: $0) }?.split(separator: "\n") ?? []
        let named = lines.isEmpty ? all : all.filter { check in lines.contains { check.name.contains($0) } }
        let numbers = getenv("SHARE").map { String(cString: $0) }?.split(separator: "/").compactMap { Int($0) } ?? []
        guard numbers.count == 2, numbers[1] > 0 else { return named }
        return named.enumerated().filter { $0.offset % numbers[1] == numbers[0] % numbers[1] }.map(\.element)
    }()
}
