#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What the kernel says this process has used.
struct ProcessUsage {
    /// User and system time, in seconds.
    let processorTime: Double
    let voluntarySwitches: Int
    let involuntarySwitches: Int

    static var now: ProcessUsage {
        var usage = rusage()
        getrusage(0, &usage)  // RUSAGE_SELF, which Glibc declares as another type than it takes
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return ProcessUsage(
            processorTime: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            voluntarySwitches: usage.ru_nvcsw,
            involuntarySwitches: usage.ru_nivcsw
        )
    }

    /// Resident memory now and at its highest, in bytes (`VmRSS` and `VmHWM` of `/proc/self/status`). `getrusage` would
    /// count what the process was before it became this program.
    static var memory: (resident: Int, peak: Int) {
        guard let file = fopen("/proc/self/status", "r") else { return (0, 0) }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        var (resident, peak) = (0, 0)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let words = String(decoding: text, as: UTF8.self).split { $0 == " " || $0 == "\t" || $0 == "\n" }
            guard words.count > 1, let kibibytes = Int(words[1]) else { continue }
            if words[0] == "VmRSS:" { resident = kibibytes * 1024 }
            if words[0] == "VmHWM:" { peak = kibibytes * 1024 }
        }
        return (resident, peak)
    }

    /// The monotonic clock, in nanoseconds.
    static var clock: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
