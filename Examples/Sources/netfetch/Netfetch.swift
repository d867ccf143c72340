import ArgumentParser
import Foundation

/// A command line client of the library, with curl's option names.
@main
struct Netfetch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "netfetch",
        version: "netfetch 0.1",
        helpNames: []
    )

    @OptionGroup(title: "The request")
    var request: RequestArguments

    @OptionGroup(title: "How it is carried out")
    var transfer: TransferArguments

    @OptionGroup(title: "The connection")
    var connection: ConnectionArguments

    @OptionGroup(title: "What is remembered")
    var memory: MemoryArguments

    @OptionGroup(title: "The output")
    var output: OutputArguments

    @OptionGroup(title: "Several")
    var several: SeveralArguments

    @Flag(name: [.customShort("h"), .customLong("help")], help: "Show this text")
    var showsHelp = false

    @Argument(help: ArgumentHelp("What to fetch; http:// if it names no scheme", valueName: "url"))
    var urls: [String] = []

    func validate() throws {
        if showsHelp { return }
        guard several.isBatch else {
            guard !connection.onlyReports || !connection.pins.isEmpty || connection.pinning != nil else {
                throw ValidationError("--report-only is of no use without --pin or --pinning")
            }
            return
        }
        guard urls.isEmpty else { throw ValidationError("--batch takes its URLs from standard input") }
        if request.saysAnything || output.saysAnything {
            throw ValidationError("with --batch, what is asked stands in the lines, and so does what is answered")
        }
    }

    /// Parses the command line and runs it. What makes no sense is said in a line, as curl says it.
    static func main() {
        OpenFiles.occupyStandardOnes()
        do {
            let command = try parse(ShortOptions.apart(Array(CommandLine.arguments.dropFirst())))
            Foundation.exit(command.showsHelp ? HelpText.show() : try command.runs())
        } catch {
            let isVersion = exitCode(for: error) == .success
            let text = message(for: error)
            Trace.write(isVersion ? text + "\n" : "netfetch: \(text)\nnetfetch: try 'netfetch --help'\n")
            Foundation.exit(isVersion ? 0 : 2)
        }
    }

    /// Runs what was asked for, and answers with the exit code.
    private func runs() throws -> Int32 {
        // Said here, as the parser would say it of a command line whose options it does not know.
        if urls.isEmpty, !several.isBatch { throw ValidationError("no URL") }
        // A reader that goes away is an error to write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        OpenFiles.allowAsManyAsPossible()
        let width = several.width ?? (several.isBatch ? Batch.usualWidth : 1)
        do {
            let memory = try memory.load()
            let stacks = Stacks(width: width, memory: memory)
            let choice = try connection.choice()
            let code =
                several.isBatch
                ? try Batch(
                    stacks: stacks,
                    usual: .init(options: transfer.options(), stack: choice, retries: transfer.retries),
                    width: width
                ).run()
                : CommandLineFetches(self, stacks: stacks, choice: choice, width: width).run()
            try self.memory.save(memory)
            return code
        } catch let error as LocalFileError {
            Trace.write("netfetch: (\(error.exitCode)) \(error)\n")
            return error.exitCode
        } catch let error as Failure {
            Trace.write("netfetch: (\(error.kind.exitCode)) \(error.message)\n")
            return error.kind.exitCode
        }
    }
}
