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
            // Without strings, which would take a tenth of a cold start.
            if strncmp(line, "VmRSS:", 6) == 0 { resident = strtol(Array(line.dropFirst(6)), nil, 10) * 1024 }
            if strncmp(line, "VmHWM:", 6) == 0 { peak = strtol(Array(line.dropFirst(6)), nil, 10) * 1024 }
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
