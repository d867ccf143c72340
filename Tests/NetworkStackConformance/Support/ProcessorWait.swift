import FoundationEssentials

/// How long each thread of this process has waited for a processor, by the kernel's count (`/proc/self/task/*/schedstat`), and how long
/// a hypervisor has kept each processor from this machine (`/proc/stat`).
///
/// On a busy machine a runnable thread waits for its turn. On a busy host a processor waits, too, and so does the thread on it. A
/// thread that a stack keeps busy does not wait, so delays of a stack are not excused. Where the kernel does not count, nothing is.
struct ProcessorWait {
    private let nanoseconds: [String: Int64]

    init() {
        let statistics = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        var counts = Self.stolen(in: statistics)
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? [] {
            let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/schedstat", encoding: .utf8)
            guard let fields = text?.split(separator: " "), fields.count == 3 else { continue }
            counts[thread] = Int64(fields[1])
        }
        nanoseconds = counts
    }

    /// The longest wait of a thread or a processor since the beginning.
    var longestSince: Duration { .nanoseconds(waitedSince.max() ?? 0) }

    /// The waits of all threads and processors since the beginning, together.
    var totalSince: Duration { .nanoseconds(waitedSince.reduce(0, +)) }

    private var waitedSince: [Int64] {
        ProcessorWait().nanoseconds.map { waiting, count in max(0, count - (nanoseconds[waiting] ?? 0)) }
    }

    /// How long the hypervisor ran something else instead of each processor, in nanoseconds: the eighth count of each line of
    /// `/proc/stat` about a processor, in hundredths of a second (proc(5)).
    static func stolen(in statistics: String) -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for line in statistics.split(separator: "\n") where line.hasPrefix("cpu") && !line.hasPrefix("cpu ") {
            let fields = line.split(separator: " ")
            if fields.count > 8, let hundredths = Int64(fields[8]) {
                counts[String(fields[0])] = hundredths * 10_000_000
            }
        }
        return counts
    }
}
