import ArgumentParser
import Foundation

/// Compares the library's stacks with what they stand on and with their peers.
@main
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures HTTP clients against each other: processor time, throughput, latency, memory.",
        discussion: "Run it through 'make bench', which installs what it needs."
    )

    @Flag(help: "Fewer workloads, rounds and milliseconds: under three minutes.")
    var quick = false

    @Flag(help: "List the workloads and clients, and do nothing.")
    var list = false

    @Option(help: "Workloads, separated by commas; all of them if left out.")
    var workloads: String?

    @Option(help: "Clients, separated by commas; all of them if left out.")
    var clients: String?

    @Option(help: "How often every client runs each workload.")
    var rounds: Int?

    @Option(help: "How long every run takes, in milliseconds.")
    var milliseconds: Int?

    @Option(help: "Another build of bench-curl-stack, which takes part as 'curl-stack-base'.")
    var base: String?

    @Option(help: "The folder of the repository.")
    var repository = "."

    mutating func run() throws {
        if list { return printLists() }
        let root = URL(fileURLWithPath: repository).standardizedFileURL
        let output = root.appending(path: ".build/bench")
        var programs = Programs(package: root.appending(path: "Benchmarks"), scratch: output)
        programs.base = base.map { URL(fileURLWithPath: $0) }
        let workloads = try chosenWorkloads()
        var (contestants, missing) = try chosenContestants(programs)
        if let first = contestants.first, base != nil, first.name.hasPrefix("curl-stack") {
            for own in contestants where own.name.hasPrefix("curl-stack") {
                contestants.append(.init(name: own.name + "-base", program: own.program, declines: own.declines))
            }
        }

        let files = try BenchmarkFiles(
            in: output.appending(path: "files"),
            uploads: workloads.contains { $0.bodyFile != nil }
        )
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
            rows: [],
            missing: missing,
            declined: [:]
        )
        for workload in workloads {
            FileHandle.standardError.write(Data("\(workload.name) ".utf8))
            var taking: [Contestant] = []
            for contestant in contestants {
                if let reason = contestant.declines(workload) {
                    report.declined["\(workload.name) \(contestant.name)"] = reason
                } else {
                    taking.append(contestant)
                }
            }
            if !taking.isEmpty { report.add(workload, runner.run(workload, taking), order: taking.map(\.name)) }
            try report.write(to: output)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        report.printTables()
        print("\n\(output.path)/report.json and report.html")
    }

    private func printLists() {
        print("Workloads:")
        for workload in Workload.all {
            let name = workload.name.padding(toLength: 26, withPad: " ", startingAt: 0)
            print("  \(name)\(workload.isQuick ? "quick  " : "       ")\(workload.title)")
        }
        print("Clients:")
        for contestant in Contestant.all { print("  \(contestant.name)") }
    }

    private func chosenWorkloads() throws -> [Workload] {
        guard let names = workloads?.split(separator: ",").map(String.init), !names.isEmpty else {
            return Workload.all.filter { !quick || $0.isQuick }
        }
        return try names.map { name in
            guard let workload = Workload.all.first(where: { $0.name == name }) else {
                throw ValidationError("There is no workload '\(name)'; --list names them.")
            }
            return workload
        }
    }

    private func chosenContestants(_ programs: Programs) throws -> ([Contestant], [String: String]) {
        var wanted = Contestant.all
        if let names = clients?.split(separator: ",").map(String.init), !names.isEmpty {
            wanted = try names.flatMap { name in
                let found = Contestant.all.filter {
                    $0.name == name || name == "libcurl-c" && $0.name.hasPrefix("libcurl-c-")
                }
                guard !found.isEmpty else { throw ValidationError("There is no client '\(name)'; --list names them.") }
                return found
            }
        }
        var there: [Contestant] = []
        var missing: [String: String] = [:]
        for contestant in wanted {
            FileHandle.standardError.write(Data("building \(contestant.name)\n".utf8))
            if let reason = try programs.missing(for: contestant) {
                missing[contestant.name] = reason
            } else {
                there.append(contestant)
            }
        }
        return (there, missing)
    }
}
