import Glibc

extension ConformanceCheck {
    /// The checks to run: all, or those whose names contain a line of the environment variable `CHECK`.
    public static let chosen: [ConformanceCheck] = {
        let lines = getenv("CHECK").map { String(cString: $0) }?.split(separator: "\n") ?? []
        guard !lines.isEmpty else { return all }
        return all.filter { check in lines.contains { check.name.contains($0) } }
    }()
}
