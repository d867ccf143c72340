import Glibc

extension ConformanceCheck {
    /// The checks to run: all, or those whose names contain the text in the environment variable `CHECK`.
    public static let chosen: [ConformanceCheck] = {
        guard let text = getenv("CHECK").map({ String(cString: $0) }), !text.isEmpty else { return all }
        return all.filter { $0.name.contains(text) }
    }()
}
