import ArgumentParser

/// What is shown and kept.
struct OutputArguments: ParsableArguments {
    @Option(
        name: .both("o", "output"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Write the content to a file; once per URL", valueName: "file")
    )
    var files: [String] = []

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Write the content to a file named as in the URL"
    )
    var usesRemoteNames = false

    @Flag(name: [.customShort("i"), .customLong("include")], help: "Show the response's heads before the content")
    var includesHeads = false

    @Option(
        name: .both("D", "dump-header"),
        parsing: .unconditional,
        help: ArgumentHelp("Write the response's heads to a file; - for standard output", valueName: "file")
    )
    var headsFile: String?

    @Flag(
        name: [.customShort("f"), .customLong("fail")],
        help: "Fail, without the content, at a status of 400 or above"
    )
    var failsByStatus = false

    @Flag(name: .customLong("show-pins"), help: "Print the public keys of the server's chain, its own first")
    var showsPins = false

    @Flag(name: [.customLong("json")], help: "Print one JSON object per URL instead of the content")
    var printsJSON = false

    @Flag(name: [.customShort("s"), .customLong("silent")], help: "Show neither progress nor errors")
    var isSilent = false

    @Flag(name: [.customShort("S"), .customLong("show-error")], help: "Show errors even with -s")
    var showsErrors = false

    @Flag(name: [.customShort("v"), .customLong("verbose")], help: "Tell what happens, on standard error")
    var isVerbose = false

    /// Whether there is any option that says what to show of a single fetch.
    var saysAnything: Bool {
        !files.isEmpty || usesRemoteNames || includesHeads || headsFile != nil || failsByStatus || showsPins
    }
}
