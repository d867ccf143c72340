/// What the curl stack is to reach in a workload: the bar that a run is held against.
struct Target: Sendable {
    enum Figure: String, Sendable {
        case cpu = "CPU per fetch"
        case efficiency = "fetches per CPU second"
        case throughput
        case median = "p50"
        case tail = "p99"
        case time = "wall time"
        case memory = "peak memory"
        /// KiB for each open response, beyond what the other holds.
        case held = "KiB per open response"
        /// MiB of resident memory, from the end of the warm-up to the end of the run.
        case growth = "MiB of growth"

        /// Whether more is better.
        var isFloor: Bool { self == .efficiency || self == .throughput }
        var unit: String { self == .held || self == .growth ? "" : "x" }
    }

    let workload: String
    let client: String
    /// Another client, or nobody: then the figure is held against the client itself, without what the workload adds.
    let other: String?
    let figure: Figure
    /// What it must be: at most, or where more is better at least.
    let must: Double
    let aim: Double?

    private init(
        _ workload: String,
        _ client: String,
        _ figure: Figure,
        of other: String?,
        _ must: Double,
        _ aim: Double?
    ) {
        self.workload = workload
        self.client = client
        self.other = other
        self.figure = figure
        self.must = must
        self.aim = aim
    }

    /// What became of a target.
    struct Verdict: Codable, Sendable {
        let workload: String
        let client: String
        let against: String
        let figure: String
        let measured: Double
        let must: Double
        let aim: Double?
        let isMet: Bool
        let reachesAim: Bool?

        enum CodingKeys: String, CodingKey {
            case workload, client, against, figure, measured, must, aim
            case isMet = "is_met"
            case reachesAim = "reaches_aim"
        }
    }

    /// Holds the rounds of a workload against the target.
    ///
    /// - Returns: What became of it, or `nil` if not everybody it needs has a result.
    func verdict(_ samples: [String: [Sample]], heldCount: Int) -> Verdict? {
        guard let own = sound(client, samples),
            let measured = measure(own, other.flatMap { sound($0, samples) }, heldCount)
        else { return nil }
        func reaches(_ bar: Double) -> Bool { figure.isFloor ? measured >= bar : measured <= bar }
        return Verdict(
            workload: workload,
            client: client,
            against: other ?? "itself",
            figure: figure.rawValue,
            measured: measured,
            must: must,
            aim: aim,
            isMet: reaches(must),
            reachesAim: aim.map(reaches)
        )
    }

    private func sound(_ name: String, _ samples: [String: [Sample]]) -> [Sample]? {
        samples[name].flatMap { $0.isEmpty || $0.contains { $0.errors > 0 } ? nil : $0 }
    }

    private func measure(_ own: [Sample], _ theirs: [Sample]?, _ heldCount: Int) -> Double? {
        switch figure {
        case .cpu: return Spread(own, over: theirs, \.cpuPerFetch)?.median
        case .efficiency: return theirs.flatMap { Spread($0, over: own, \.cpuPerFetch)?.median }
        case .throughput where other == nil:
            return Spread(own.compactMap(\.throughputBesideHeld))?.median
        case .throughput: return Spread(own, over: theirs, \.throughput)?.median
        case .median, .time: return Spread(own, over: theirs) { $0.percentiles([50]).first }?.median
        case .tail: return Spread(own, over: theirs) { $0.percentiles([99]).first }?.median
        case .memory: return Spread(own, over: theirs) { $0.rssPeak.map(Double.init) }?.median
        case .held:
            guard heldCount > 0, let theirs = Spread(theirs?.compactMap(\.rssOfHeld) ?? []) else { return nil }
            return Spread(own.compactMap(\.rssOfHeld)).map { ($0.median - theirs.median) / Double(heldCount) / 1024 }
        case .growth: return Spread(own.compactMap(\.rssGrowth)).map { $0.median / 1_048_576 }
        }
    }

    // MARK: The targets

    static let all: [Target] =
        small + [
            .init("get-1k-h1-c1", "curl-stack", .median, of: "libcurl-c", 1.35, 1.20),
            .init("get-64k-h1-c64", "curl-stack", .cpu, of: "libcurl-c", 1.25, 1.10),
            .init("json-20k-h1-c64", "curl-stack", .cpu, of: "libcurl-c", 1.25, 1.10),
            .init("get-1k-https-c64", "curl-stack", .cpu, of: "libcurl-c", 1.2, 1.1),
            .init("get-1k-https-c64", "curl-stack", .efficiency, of: "async-http-client", 2.2, 3),
            .init("get-1k-h2-c64", "curl-stack", .cpu, of: "libcurl-c", 1.2, 1.1),
            .init("get-1k-h2-c64", "curl-stack", .efficiency, of: "async-http-client", 2.2, 3),
            .init("get-1k-handshake-c16", "curl-stack", .cpu, of: "async-http-client", 1.5, 1),
            .init("get-1k-handshake-c16", "curl-stack", .cpu, of: "libcurl-c", 1.1, nil),
            .init("download-256m", "curl-stack", .throughput, of: "libcurl-c", 0.9, 0.97),
            .init("upload-1g", "curl-stack", .throughput, of: "libcurl-c", 0.9, 0.97),
            .init("held-10k-c64", "curl-stack", .throughput, of: nil, 0.6, 0.9),
            .init("held-10k-c64", "curl-stack", .held, of: "libcurl-c", 16, 8),
            .init("cold-start", "curl-stack", .time, of: "curl-command", 1.6, 1.2),
            .init("cold-start", "curl-stack", .memory, of: "curl-command", 2, nil),
            .init("cold-start", "curl-stack-static", .time, of: "curl-command", 1.6, 1.2),
            .init("cold-start", "curl-stack-static", .memory, of: "curl-command", 2, nil),
            .init("growth-200k", "curl-stack", .growth, of: nil, 1, nil),
        ]

    /// Small requests, at every level.
    private static var small: [Target] {
        [1, 16, 64, 256, 1000].flatMap { level -> [Target] in
            let name = "get-1k-h1-c\(level)"
            var targets: [Target] = []
            if level > 1 {
                targets.append(.init(name, "curl-stack", .cpu, of: "libcurl-c", 1.25, level > 64 ? 1 : 1.1))
                targets.append(.init(name, "curl-stack-callback", .cpu, of: "libcurl-c", 1.15, 1.05))
            }
            return targets + [
                .init(name, "curl-stack", .efficiency, of: "async-http-client", 3, 3.5),
                .init(name, "curl-stack", .tail, of: "async-http-client", 1, nil),
                .init(name, "curl-stack", .efficiency, of: "urlsession", 11, 14),
                .init(name, "curl-stack", .cpu, of: "go-net-http", 1.1, 0.9),
            ]
        }
    }
}
