import ArgumentParser
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Compares the library's stacks with what they stand on and with their peers.
@main
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures HTTP clients against each other: processor time, throughput, latency, memory.",
        discussion:
            "Run it through 'make bench', which installs and builds what it needs. Ctrl-C ends it with what it has."
    )

    @Flag(help: "Fewer workloads, clients, rounds and milliseconds: under three minutes.")
    var quick = false

    @Flag(help: "List the workloads and clients, and do nothing.")
    var list = false

    @Option(help: "Workloads, separated by commas or blanks; all of them if left out.")
    var workloads: String?

    @Option(
        help:
            "Clients, separated by commas or blanks; all of them if left out. 'libcurl-c' is both variants of the floor."
    )
    var clients: String?

    @Option(help: "How often every client runs each workload: 7 if left out, 3 for a quick run.")
    var rounds: Int?

    @Option(help: "How long every run takes, in milliseconds: 1000 if left out, 400 for a quick run.")
    var milliseconds: Int?

    @Option(help: "Another build of bench-curl-stack, which takes part as 'curl-stack-base'.")
    var base: String?

    @Option(help: "What that build is called in the report.")
    var baseName: String?

    @Option(help: "The folder of the repository.")
    var repository = "."

    func validate() throws {
        guard 1...10_000 ~= rounds ?? 1 else { throw ValidationError("There are 1 to 10,000 rounds.") }
        guard 1...600_000 ~= milliseconds ?? 1 else {
            throw ValidationError("A run takes 1 to 600,000 milliseconds.")
        }
    }

    mutating func run() throws {
        if list { return printLists() }
        let root = URL(fileURLWithPath: repository).standardizedFileURL
        let output = root.appending(path: ".build/bench")
        var programs = Programs(package: root.appending(path: "Benchmarks"), scratch: output)
        programs.base = base.map { URL(fileURLWithPath: $0) }
        let workloads = try chosenWorkloads()
        let (contestants, missing) = try chosenContestants(programs)
        if Interruption.shared.isRequested { throw ExitCode(130) }
        guard !contestants.isEmpty else {
            throw ValidationError("None of the clients can be had: \(missing.values.sorted().joined(separator: "; ")).")
        }

        let openFiles = Machine.raiseOpenFileLimit()
        let files = try BenchmarkFiles(in: output.appending(path: "files"))
        let servers = try Servers(files: files, programs: programs)
        defer { servers.stop() }
        let effort = Runner.Effort(
            rounds: rounds ?? (quick ? 3 : 7),
            warmUpMilliseconds: quick ? 150 : 300,
            runMilliseconds: milliseconds ?? (quick ? 400 : 1000)
        )
        let runner = Runner(programs: programs, files: files, servers: servers, effort: effort)
        var report = Report(
            machine: Machine.facts(),
            effort: [
                "rounds": "\(effort.rounds)", "milliseconds per run": "\(effort.runMilliseconds)",
                "date": Date.now.formatted(.iso8601),
            ],
            missing: missing
        )
        report.effort["base"] = baseName
        var plan: [(workload: Workload, taking: [Contestant])] = []
        for workload in workloads {
            var taking: [Contestant] = []
            for contestant in contestants {
                if let reason = declines(contestant, workload, openFiles) {
                    report.declined["\(workload.name) \(contestant.name)"] = reason
                } else {
                    taking.append(contestant)
                }
            }
            if !taking.isEmpty { plan.append((workload, taking)) }
        }
        if let remark = Cores.shared.remark { say("\(remark)\n") }
        say("\(plan.count) workloads, \(effort.rounds) rounds: about \(minutes(seconds(of: plan[...], effort))).\n")
        for (index, part) in plan.enumerated() where !Interruption.shared.isRequested {
            say("\(part.workload.name) ")
            report.add(part.workload, runner.run(part.workload, part.taking), order: part.taking.map(\.name))
            try report.write(to: output)
            say(" (about \(minutes(seconds(of: plan[(index + 1)...], effort))) to go)\n")
        }
        if Interruption.shared.isRequested {
            report.effort["interrupted"] = "yes: whole rounds of what came before count"
        }
        try report.write(to: output)
        TerminalTables(report: report).print()
        print("\n\(output.path)/report.json and report.html")
        if Interruption.shared.isRequested { throw ExitCode(130) }
        if !report.failures.isEmpty { throw ExitCode.failure }
    }

    /// Why a client has no place in a workload of this run.
    private func declines(_ contestant: Contestant, _ workload: Workload, _ openFiles: Int) -> String? {
        if workload.heldCount + 200 > openFiles {
            return "needs more than the \(openFiles) open files a process may have"
        }
        if let reason = contestant.declines(workload) { return reason }
        if clients == nil, let reason = contestant.sitsOut(workload) {
            return "\(reason); CLIENTS=\(contestant.name) has it"
        }
        return nil
    }

    private func seconds(of plan: ArraySlice<(workload: Workload, taking: [Contestant])>, _ effort: Runner.Effort)
        -> Double
    {
        plan.reduce(0) { sum, part in
            sum + Double(part.taking.count * effort.rounds(of: part.workload)) * effort.seconds(for: part.workload)
        }
    }

    private func minutes(_ seconds: Double) -> String {
        seconds < 90 ? "\(Int(seconds)) seconds" : "\(Int((seconds / 60).rounded(.up))) minutes"
    }

    private func say(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

    private func printLists() {
        print("Workloads:")
        for workload in Workload.all {
            let name = workload.name.padding(toLength: 26, withPad: " ", startingAt: 0)
            print("  \(name)\(workload.isQuick ? "quick  " : "       ")\(workload.title)")
        }
        print("Clients:")
        for contestant in Contestant.all { print("  \(contestant.name)") }
    }

    private static func names(_ list: String) -> [String] {
        list.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    private func chosenWorkloads() throws -> [Workload] {
        guard let names = workloads.map(Self.names), !names.isEmpty else {
            return Workload.all.filter { !quick || $0.isQuick }
        }
        if let name = names.first(where: { name in !Workload.all.contains { $0.name == name } }) {
            throw ValidationError("There is no workload '\(name)'; --list names them.")
        }
        return Workload.all.filter { names.contains($0.name) }
    }

    private func chosenContestants(_ programs: Programs) throws -> ([Contestant], [String: String]) {
        var wanted = Contestant.all.filter { !quick || $0.isQuick }
        if let names = clients.map(Self.names), !names.isEmpty {
            func chooses(_ name: String, _ contestant: Contestant) -> Bool {
                contestant.name == name || name == "libcurl-c" && contestant.name.hasPrefix("libcurl-c-")
            }
            if let name = names.first(where: { name in !Contestant.all.contains { chooses(name, $0) } }) {
                throw ValidationError("There is no client '\(name)'; --list names them.")
            }
            wanted = Contestant.all.filter { contestant in names.contains { chooses($0, contestant) } }
        }
        var there: [Contestant] = []
        var missing: [String: String] = [:]
        for contestant in wanted {
            if let reason = try programs.missing(for: contestant) {
                missing[contestant.name] = reason
                continue
            }
            there.append(contestant)
            if base != nil, case .swift("bench-curl-stack", nil) = contestant.program {
                var other = contestant
                other.name += "-base"
                there.append(other)
            }
        }
        return (there, missing)
    }
}
