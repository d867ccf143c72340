import Foundation

/// All rows of a run, with the machine they were measured on and what could not be measured.
struct Report: Codable {
    /// The machine and the versions of what took part.
    var machine: [String: String]
    /// When and how it was measured.
    var effort: [String: String]
    var rows: [Row] = []
    /// What the curl stack is to reach, where everybody it is held against took part.
    var targets: [Target.Verdict] = []
    /// Clients that were asked for and could not be had, with the reason.
    var missing: [String: String]
    /// Places in a workload that a client declined, with the reason.
    var declined: [String: String] = [:]

    /// The variant of the floor that counts in a workload: the one that costs less processor time.
    static func floor(of samples: [String: [Sample]]) -> String? {
        func cost(_ name: String) -> Double {
            Spread((samples[name] ?? []).compactMap(\.cpuPerFetch))?.median ?? .infinity
        }
        return ["libcurl-c-poll", "libcurl-c-epoll"]
            .filter { name in samples[name].map { own in !own.isEmpty && own.allSatisfy { $0.errors == 0 } } ?? false }
            .min { cost($0) < cost($1) }
    }

    /// Adds a workload's rows, in the order of the clients.
    mutating func add(_ workload: Workload, _ samples: [String: [Sample]], order: [String]) {
        var samples = samples
        var order = order
        let floor = Self.floor(of: samples)
        if let floor {
            samples["libcurl-c"] = samples[floor]
            order.insert("libcurl-c", at: 0)
        }
        for name in order {
            guard let own = samples[name] else { continue }
            var row = Row(workload, client: name, samples: own, among: samples)
            if name == "libcurl-c" { row.variant = floor }
            rows.append(row)
        }
        targets += Target.all.filter { $0.workload == workload.name }
            .compactMap { $0.verdict(samples, heldCount: workload.heldCount) }
    }

    /// Rows that are no results, because something failed.
    var failures: [Row] { rows.filter { $0.errors > 0 } }

    /// Writes the report and the page beside it.
    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: folder.appending(path: "report.json"), options: .atomic)
        try Data(ResultsPage(report: self).html.utf8).write(to: folder.appending(path: "report.html"), options: .atomic)
    }
}
