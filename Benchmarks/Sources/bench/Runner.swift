import Foundation

/// Runs clients through workloads: every round, every client, in an order that rotates, so that what happens to the machine
/// meanwhile happens to all of them.
struct Runner {
    /// How long and how often.
    struct Effort {
        var rounds: Int
        var warmUpMilliseconds: Int
        var runMilliseconds: Int

        func rounds(of workload: Workload) -> Int { min(rounds, workload.roundsAtMost) }

        /// About how long a client takes for one round, in seconds.
        func seconds(for workload: Workload) -> Double {
            let byTime = Double(warmUpMilliseconds + runMilliseconds) / 1000
            let start = 0.25
            if workload.heldCount > 0 { return workload.usualSeconds + 2 * (byTime + start) }
            return (workload.usualSeconds > 0 ? workload.usualSeconds : byTime) + start
        }
    }

    let programs: Programs
    let files: BenchmarkFiles
    let servers: Servers
    let effort: Effort

    /// Runs a workload.
    ///
    /// - Returns: Every client's samples, one for each round; whole rounds only, if it is interrupted.
    func run(_ workload: Workload, _ contestants: [Contestant]) -> [String: [Sample]] {
        var samples: [String: [Sample]] = [:]
        for round in 0..<effort.rounds(of: workload) {
            var these: [String: Sample] = [:]
            for index in contestants.indices {
                let contestant = contestants[(index + round) % contestants.count]
                // What has failed once is no result any more, and need not fail again.
                if samples[contestant.name]?.contains(where: { $0.errors > 0 }) ?? false { continue }
                do {
                    these[contestant.name] = try run(contestant, workload)
                } catch {
                    these[contestant.name] = Sample(failure: "\(error)")
                }
                if Interruption.shared.isRequested { return samples }
            }
            for (name, sample) in these { samples[name, default: []].append(sample) }
            FileHandle.standardError.write(Data(".".utf8))
        }
        return samples
    }

    private func run(_ contestant: Contestant, _ workload: Workload) throws -> Sample {
        switch contestant.program {
        case .wrk: return try runWrk(workload)
        case .curl: return try runWhole(["curl", "-s", "-o", "/dev/null", servers.url(workload.server, workload.path)])
        case .swift, .whole, .foreign:
            if workload.kind == .coldStart {
                return try runWhole(programs.command(for: contestant, workload) + settings(workload, contestant))
            }
            guard workload.heldCount > 0 else { return try runLoad(contestant, workload) }
            // The same client, a moment before, without what it is to hold.
            var alone = workload
            alone.heldCount = 0
            let before = try runLoad(contestant, alone)
            guard before.errors == 0 else { return before }
            var sample = try runLoad(contestant, workload)
            sample.throughputAlone = before.throughput
            return sample
        }
    }

    private func runLoad(_ contestant: Contestant, _ workload: Workload) throws -> Sample {
        let before = servers.connectionCount(workload.server)
        let output = try Shell.run(
            ["timeout", "600", "taskset", "-c", "\(Cores.shared.client)"]
                + programs.command(for: contestant, workload) + settings(workload, contestant)
        )
        let after = servers.connectionCount(workload.server)
        guard output.status == 0, let line = output.text.split(separator: "\n").last else {
            return Sample(failure: "It ended with status \(output.status) and said: \(output.errorText.suffix(200))")
        }
        var sample = try JSONDecoder().decode(Sample.self, from: Data(line.utf8))
        if let before, let after { sample.connections = after - before - 1 }
        if sample.errors == 0, sample.fetches == 0 { return Sample(failure: "It made no fetch.") }
        return sample
    }

    private func settings(_ workload: Workload, _ contestant: Contestant) -> [String] {
        let isWhole = workload.kind == .coldStart
        var settings = [
            "client=\(contestant.name.replacing("-base", with: "").replacing("-static", with: ""))",
            "url=\(servers.url(workload.server, workload.path))", "method=\(workload.method)",
            "in_flight=\(workload.inFlight)",
            "warm_up_ms=\(isWhole ? 0 : effort.warmUpMilliseconds)", "run_ms=\(effort.runMilliseconds)",
            "warm_up_fetches=\(workload.warmUpFetches)", "fetches=\(isWhole ? 1 : workload.fetches)",
            "expect=\(workload.expected)",
        ]
        if workload.bodyBytes > 0 { settings.append("body_bytes=\(workload.bodyBytes)") }
        if workload.bodyFile != nil { settings.append("body_file=\(files.gibibyte.path)") }
        if workload.decodes { settings.append("decode=json") }
        if workload.streams { settings.append("stream=1") }
        if workload.interceptors > 0 { settings.append("interceptors=\(workload.interceptors)") }
        if workload.isDistinct { settings.append("distinct=1") }
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
            let (usage, output) = try launch(command)
            guard usage.status == 0 else { return Sample(failure: "It ended with status \(usage.status).") }
            if let line = output.split(separator: "\n").last {
                let own = try JSONDecoder().decode(Sample.self, from: Data(line.utf8))
                guard own.errors == 0, own.fetches == 1 else {
                    return Sample(failure: own.error ?? "It did not fetch.")
                }
            }
            sample.seconds = (sample.seconds ?? 0) + usage.seconds
            sample.cpuSeconds = (sample.cpuSeconds ?? 0) + usage.cpuSeconds
            sample.rssPeak = max(sample.rssPeak ?? 0, usage.rssPeak)
            sample.latencies?["\(UInt64(usage.seconds * 1e9))", default: 0] += 1
        }
        return sample
    }

    private func runWrk(_ workload: Workload) throws -> Sample {
        let seconds = max(1, effort.runMilliseconds / 1000)
        let (usage, output) = try launch(
            ["wrk", "-t1", "-c\(workload.inFlight)", "-d\(seconds)s", servers.url(workload.server, workload.path)]
        )
        // "40000 requests in 1.10s, 49.1MB read": it notices only now and then that its time is up.
        let words = output.split(separator: "\n").first { $0.contains("requests in") }?.split(separator: " ") ?? []
        guard words.count > 3, let requests = Int(words[0]), let time = Double(words[3].prefix { $0 != "s" }),
            usage.status == 0, !output.contains("Socket errors"), !output.contains("Non-2xx")
        else {
            return Sample(failure: "wrk said: \(output)")
        }
        var sample = Sample(fetches: requests, seconds: time, cpuSeconds: usage.cpuSeconds)
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

    /// Runs a program that does not measure itself, and answers what the kernel says it cost and what it printed.
    private func launch(_ command: [String]) throws -> (Usage, output: String) {
        let result = try Shell.run([programs.path(of: "bench-launch"), "\(Cores.shared.client)"] + command)
        guard let line = result.errorText.split(separator: "\n").last else {
            throw Shell.Failure(description: "bench-launch said nothing.")
        }
        return (try JSONDecoder().decode(Usage.self, from: Data(line.utf8)), result.text)
    }
}
