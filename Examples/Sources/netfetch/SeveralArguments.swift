import ArgumentParser

/// Many fetches.
struct SeveralArguments: ParsableArguments {
    @Flag(name: .both("Z", "parallel"), help: "Fetch several URLs at once, 50 unless --parallel-max")
    var isParallel = false

    @Option(help: ArgumentHelp("Fetches at once, at most, with -Z or --batch", valueName: "number"))
    var parallelMax: Int?

    @Option(name: .customLong("repeat"), help: ArgumentHelp("Fetch every URL so many times", valueName: "number"))
    var times = 1

    @Flag(name: .customLong("batch"), help: "Read requests from standard input, a JSON object a line (see BATCH)")
    var isBatch = false

    func validate() throws {
        guard (parallelMax ?? 1) > 0, times > 0 else {
            throw ValidationError("--parallel-max and --repeat must be at least 1")
        }
        let most = 1_000_000_000
        guard (parallelMax ?? 1) <= most, times <= most else {
            throw ValidationError("--parallel-max and --repeat must be at most 1,000,000,000")
        }
    }

    /// How many fetches run at once.
    var width: Int {
        if isBatch { return parallelMax ?? Batch.usualWidth }
        return isParallel ? parallelMax ?? 50 : 1
    }
}
