import Foundation

/// Runs clients through workloads: every round, every client, in an order that rotates, so that what happens to the machine
/// meanwhile happens to all of them.
struct Runner {
    /// How long and how often.
    struct Effort {
        var rounds: Int
        var warmUpMilliseconds: Int
        var runMilliseconds: Int
    }

    /// The core the clients run on.
    static let core = 0

    let programs: Programs
    let files: BenchmarkFiles
    let servers: Servers
    let effort: Effort

    /// Runs a workload.
    ///
    /// - Returns: Every client's samples, one for each round.
    func run(_ workload: Workload, _ contestants: [Contestant]) -> [String: [Sample]] {
        var samples: [String: [Sample]] = [:]
        for round in 0..<effort.rounds {
            for index in contestants.indices {
                let contestant = contestants[(index + round) % contestants.count]
                // What has failed once is no result any more, and need not fail again.
                if samples[contestant.name]?.contains(where: { $0.errors > 0 }) ?? false { continue }
                let sample: Sample
                do { sample = try run(contestant, workload) } catch { sample = Sample(failure: "\(error)") }
                samples[contestant.name, default: []].append(sample)
            }
            FileHandle.standardError.write(Data(".".utf8))
        }
        return samples
    }

    private func run(_ contestant: Contestant, _ workload: Workload) throws -> Sample {
        switch contestant.program {
        case .wrk: return try runWrk(workload)
        case .curl: return try runWhole(["curl", "-s", "-o", "/dev/null", servers.url(workload.server, workload.path)])
        case .swift, .foreign:
            let command = programs.command(for: contestant) + settings(workload, contestant)
            if workload.kind == .coldStart { return try runWhole(command) }
            let before = workload.server == .peer ? nil : servers.connectionCount()
            let output = try Shell.run(["timeout", "180", "taskset", "-c", "\(Self.core)"] + command)
            let after = before == nil ? nil : servers.connectionCount()
            guard let line = output.text.split(separator: "\n").last else {
                return Sample(
                    failure: "It ended with status \(output.status) and said: \(output.errorText.suffix(200))"
                )
            }
            var sample = try JSONDecoder().decode(Sample.self, from: Data(line.utf8))
            if let before, let after { sample.connections = after - before - 1 }
            return sample
        }
    }

    private func settings(_ workload: Workload, _ contestant: Contestant) -> [String] {
        let isWhole = workload.kind == .coldStart
        var settings = [
            "client=\(contestant.name.replacingOccurrences(of: "-base", with: ""))",
            "url=\(servers.url(workload.server, workload.path))", "method=\(workload.method)",
            "in_flight=\(workload.inFlight)",
            "warm_up_ms=\(isWhole ? 0 : effort.warmUpMilliseconds)", "run_ms=\(effort.runMilliseconds)",
            "warm_up_fetches=\(workload.warmUpFetches)", "fetches=\(isWhole ? 1 : workload.fetches)",
        ]
        // The floor does not decode: what it returns are bytes.
        if !workload.decodes || !contestant.name.hasPrefix("libcurl-c") {
            settings.append("expect=\(workload.expected)")
        }
        if workload.bodyBytes > 0 { settings.append("body_bytes=\(workload.bodyBytes)") }
        if workload.bodyFile != nil { settings.append("body_file=\(files.upload.path)") }
        if workload.decodes { settings.append("decode=json") }
        if workload.interceptors > 0 { settings.append("interceptors=\(workload.interceptors)") }
        if workload.pins { settings.append("pins=\(files.pins.joined(separator: ","))") }
        if workload.server == .tls || workload.server == .tlsHTTP2 {
            settings.append("ca=\(files.authorities.path)")
            settings.append("http=\(workload.server == .tls ? "1.1" : "2")")
        }
        if workload.heldCount > 0 {
            settings += [
                "held_count=\(workload.heldCount)", "held_url=\(servers.url(.peer, "/hold"))",
                "held_count_url=\(servers.url(.peer, "/held"))",
            ]
        }
        return settings
    }

    /// A program from its start to its end. The time is both the throughput's and the latency's.
    private func runWhole(_ command: [String]) throws -> Sample {
        let repetitions = 10
        var sample = Sample(fetches: repetitions, seconds: 0, cpuSeconds: 0)
        sample.latencies = [:]
        for _ in 0..<repetitions {
            let usage = try launch(command)
            guard usage.status == 0 else { return Sample(failure: "It ended with status \(usage.status).") }
            sample.seconds = (sample.seconds ?? 0) + usage.seconds
            sample.cpuSeconds = (sample.cpuSeconds ?? 0) + usage.cpuSeconds
            sample.rssPeak = max(sample.rssPeak ?? 0, usage.rssPeak)
            sample.latencies?["\(UInt64(usage.seconds * 1e9))", default: 0] += 1
        }
        return sample
    }

    private func runWrk(_ workload: Workload) throws -> Sample {
        let seconds = max(1, effort.runMilliseconds / 1000)
        var output = ""
        let usage = try launch(
            ["wrk", "-t1", "-c\(workload.inFlight)", "-d\(seconds)s", servers.url(workload.server, workload.path)],
            output: &output
        )
        let requests = output.split(separator: "\n").first { $0.contains("requests in") }?
            .split(separator: " ").first.flatMap { Int($0) }
        guard let requests, usage.status == 0, !output.contains("Socket errors"), !output.contains("Non-2xx") else {
            return Sample(failure: "wrk said: \(output)")
        }
        var sample = Sample(fetches: requests, seconds: Double(seconds), cpuSeconds: usage.cpuSeconds)
        sample.rssPeak = usage.rssPeak
        return sample
    }

    private struct Usage: Decodable {
        let seconds: Double
        let cpuSeconds: Double
        let rssPeak: Int
        let status: Int32

        enum CodingKeys: String, CodingKey {
            case seconds, status
            case cpuSeconds = "cpu_seconds"
            case rssPeak = "rss_peak"
        }
    }

    private func launch(_ command: [String]) throws -> Usage {
        var output = ""
        return try launch(command, output: &output)
    }

    private func launch(_ command: [String], output: inout String) throws -> Usage {
        let result = try Shell.run([programs.path(of: "bench-launch"), "\(Self.core)"] + command)
        output = result.text
        guard let line = result.errorText.split(separator: "\n").last else {
            throw Shell.Failure(description: "bench-launch said nothing.")
        }
        return try JSONDecoder().decode(Usage.self, from: Data(line.utf8))
    }
}
