import Foundation

/// The options that netfetch has, read from what the parser knows of them.
struct KnownOptions {
    struct Option: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: String
        let names: [Name]?
        let valueName: String?
        let abstract: String?

        var takesValue: Bool { kind == "option" }
        var longNames: [String] { (names ?? []).filter { $0.kind == "long" }.map(\.name) }
        /// The first long name, which every option has.
        var name: String { longNames.first ?? "" }
        var letter: Character? { names?.first { $0.kind == "short" }?.name.first }
    }

    private struct Dump: Decodable {
        struct Command: Decodable { let arguments: [Option] }
        let command: Command
    }

    static let shared = KnownOptions()

    /// In the order of the declarations.
    let all: [Option]

    private init() {
        let dump = try? JSONDecoder().decode(Dump.self, from: Data(Netfetch._dumpHelp().utf8))
        all = (dump?.command.arguments ?? []).filter { $0.kind != "positional" }
    }

    /// The option of a letter.
    func option(_ letter: Character) -> Option? { all.first { $0.letter == letter } }

    /// The option of a long name.
    func exact(_ name: some StringProtocol) -> Option? { all.first { $0.longNames.contains { $0 == name } } }

    /// The option of a long name, or of a part of it that begins no other's, as curl takes it.
    func option(_ word: String) throws(UsageError) -> Option {
        if let exact = exact(word) { return exact }
        let found = all.filter { $0.longNames.contains { $0.hasPrefix(word) } }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            throw UsageError("option --\(word) is ambiguous: \(found.map { "--\($0.name)" }.joined(separator: ", "))")
        }
        throw UsageError("option --\(word) is unknown" + (nearest(to: word).map { "; did you mean --\($0)?" } ?? ""))
    }

    /// The name that a mistyped one most likely means, if any is close: a slip in four letters at most.
    private func nearest(to word: String) -> String? {
        let distances = all.map { (name: $0.name, distance: Self.distance(Array(word), Array($0.name))) }
        let best = distances.min { $0.distance < $1.distance }
        if let best, best.distance <= max(1, word.count / 4) { return best.name }
        return word.count < 4 ? nil : all.map(\.name).first { $0.contains(word) }
    }

    /// How many letters differ (Levenshtein); two that changed places are one slip.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var (before, row) = ([Int](), Array(0...right.count))
        for i in left.indices {
            var next = [i + 1]
            for j in right.indices {
                var cost = min(row[j] + (left[i] == right[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1)
                if i > 0, j > 0, left[i - 1] == right[j], left[i] == right[j - 1] {
                    cost = min(cost, before[j - 1] + 1)
                }
                next.append(cost)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }
}

/// A command line that makes no sense.
struct UsageError: Error {
    let message: String
    let exitCode: Int32

    init(_ message: String, exitCode: Int32 = 2) {
        self.message = message
        self.exitCode = exitCode
    }
}
