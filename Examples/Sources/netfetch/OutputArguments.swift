import ArgumentParser

/// What is shown and kept.
struct OutputArguments: ParsableArguments {
    @Option(
        name: .both("o", "output"),
        help: ArgumentHelp("Write the body to a file; - for the terminal, too; once per URL", valueName: "file")
    )
    var files: [String] = []

    @Flag(name: .both("O", "remote-name"), help: "Write the body to a file named as in the URL; once per URL")
    var remoteNames: Int

    @Option(help: ArgumentHelp("The folder for -o and -O", valueName: "folder"))
    var outputDir: String?

    @Flag(help: "Make the folders that -o and --output-dir name")
    var createDirs = false

    @Flag(name: .both("i", "include"), help: "Show the response's heads before the body")
    var includesHeads = false

    @Option(
        name: .both("D", "dump-header"),
        help: ArgumentHelp("Write the response's heads to a file; - for standard output", valueName: "file")
    )
    var headsFile: String?

    @Flag(name: .both("f", "fail"), help: "Fail, without the body, at a status of 400 or above")
    var failsByStatus = false

    @Option(
        name: .both("w", "write-out"),
        help: ArgumentHelp("Print this at the end, with %{variables}; @file (see WRITE-OUT)", valueName: "format")
    )
    var writeOut: String?

    @Flag(help: "Print the public keys of the server's chain, its own first")
    var showPins = false

    @Flag(help: "Print one JSON object per URL instead of the body")
    var summary = false

    @Flag(name: .both("s", "silent"), help: "Show neither progress nor errors")
    var isSilent = false

    @Flag(name: .both("S", "show-error"), help: "Show errors even with -s")
    var showsErrors = false

    @Flag(name: .both("#", "progress-bar"), help: "Show progress, also without a terminal")
    var forcesProgress = false

    @Flag(name: .customLong("no-progress-meter"), help: "Show no progress")
    var hidesProgress = false

    @Flag(name: .both("N", "no-buffer"), help: "Write what came at once (as always)")
    var writesAtOnce = false

    @Flag(name: .both("v", "verbose"), help: "Show requests, responses and connections on standard error")
    var isVerbose = false

    @Flag(name: .customLong("trace"), help: "Print a timeline of each fetch; takes no file (see TRACE)")
    var showsTimelines = false

    @Option(
        name: .customLong("har"),
        help: ArgumentHelp("Write the fetches to a file in HAR 1.2; - for standard output", valueName: "file")
    )
    var archive: String?

    /// Whether there is any option that is for fetches of the command line.
    var isGiven: Bool {
        !files.isEmpty || remoteNames > 0 || includesHeads || headsFile != nil || failsByStatus || showPins
            || writeOut != nil
    }
}
