import ArgumentParser
import Foundation

/// A command line client of the library, with curl's option names.
@main
struct Netfetch: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "netfetch", helpNames: [])

    @OptionGroup(title: "The request")
    var request: RequestArguments

    @OptionGroup(title: "The transfer")
    var transfer: TransferArguments

    @OptionGroup(title: "The connection")
    var connection: ConnectionArguments

    @OptionGroup(title: "Cookies and HSTS")
    var memory: MemoryArguments

    @OptionGroup(title: "The output")
    var output: OutputArguments

    @OptionGroup(title: "Several fetches")
    var several: SeveralArguments

    @Option(name: .both("K", "config"), help: ArgumentHelp("Read options from a file, one a line", valueName: "file"))
    var config: String?

    @Flag(name: .both("q", "disable"), help: "Read no .curlrc (as always)")
    var readsNoDefaults = false

    @Flag(name: .both("h", "help"), help: "Show this text")
    var showsHelp = false

    @Flag(name: .both("V", "version"), help: "Show the version, and what it is built on")
    var showsVersion = false

    @Argument(help: ArgumentHelp("What to fetch; http:// if it names no scheme", valueName: "url"))
    var urls: [String] = []

    func validate() throws {
        guard !showsHelp, !showsVersion else { return }
        // A command line of curl's, which would fetch the file's name.
        guard !output.showsTimelines || !urls.contains(where: { $0 == "-" || $0 == "%" }) else {
            throw ValidationError("--trace takes no file; it prints timelines on standard error")
        }
        guard several.isBatch else {
            if urls.isEmpty { throw ValidationError("no URL specified") }
            guard !connection.onlyReports || !connection.pins.isEmpty || connection.pinning != nil else {
                throw ValidationError("--report-only needs --pin or --pinning")
            }
            return
        }
        guard urls.isEmpty else { throw ValidationError("--batch reads its URLs from standard input") }
        guard !request.isGiven, !output.isGiven else {
            throw ValidationError("with --batch, requests are in the lines, and so is what is shown of responses")
        }
        guard transfer.range == nil, transfer.resumption == nil, transfer.limitRate == nil else {
            throw ValidationError("-r, -C and --limit-rate are not for --batch, whose lines have headers")
        }
    }

    /// Parses the command line and runs it.
    static func main() {
        OpenFiles.occupyStandardOnes()
        do {
            let line = try CommandLineReader(Array(CommandLine.arguments.dropFirst()))
            let command = try parse(line.arguments)
            if command.showsHelp { Foundation.exit(HelpText.show(HelpText.text)) }
            if command.showsVersion { Foundation.exit(HelpText.show(VersionText.text)) }
            Foundation.exit(try command.run(line))
        } catch let error as UsageError {
            Trace.write("netfetch: \(error.message)\nnetfetch: try 'netfetch --help'\n")
            Foundation.exit(error.exitCode)
        } catch {
            Trace.write("netfetch: \(message(for: error))\nnetfetch: try 'netfetch --help'\n")
            Foundation.exit(2)
        }
    }

    /// Runs the command, and returns the exit code.
    private func run(_ line: CommandLineReader) throws -> Int32 {
        // A closed pipe fails a write, and does not end the process.
        signal(SIGPIPE, SIG_IGN)
        OpenFiles.allowAsManyAsPossible()
        do {
            let memory = try memory.load()
            let recording = try Recording(output)
            let stacks = Stacks(width: several.width, memory: memory, recording: recording)
            var command = self
            command.request.completeCredentials()
            command.connection.completeCredentials()
            let choice = try command.connection.choice()
            let code = Result {
                several.isBatch
                    ? try Batch(
                        stacks: stacks,
                        usual: .init(options: transfer.options, stack: choice, retrying: transfer.retrying),
                        width: several.width
                    ).run()
                    : try CommandLineFetches(command, line, stacks: stacks, choice: choice).run()
            }
            try recording?.finish()
            if case .success = code { try self.memory.save(memory) }
            return try code.get()
        } catch let error as LocalFileError {
            Trace.write("netfetch: (\(error.exitCode)) \(error)\n")
            return error.exitCode
        } catch let error as Failure {
            Trace.write("netfetch: (\(error.exitCode)) \(error.message)\n")
            return error.exitCode
        }
    }
}
