import FoundationEssentials

/// How long each thread of this process has waited for a processor, by the kernel's count (`/proc/self/task/*/schedstat`).
///
/// On a busy machine a runnable thread waits for its turn. A thread that a stack keeps busy does not wait, so delays of a stack
/// are not excused. Where the kernel does not count, nothing is.
struct ProcessorWait {
    private let nanoseconds: [String: Int64]

    init() {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let counts = threads.compactMap { thread -> (String, Int64)? in
            let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/schedstat", encoding: .utf8)
            guard let fields = text?.split(separator: " "), fields.count == 3, let count = Int64(fields[1]) else {
                return nil
            }
            return (thread, count)
        }
        nanoseconds = Dictionary(counts) { first, _ in first }
    }

    /// The longest wait of a thread since the beginning.
    var longestSince: Duration {
        let waited = ProcessorWait().nanoseconds.map { thread, count in count - (nanoseconds[thread] ?? 0) }
        return .nanoseconds(waited.max() ?? 0)
    }
}
