import Glibc

/// Processor time, as the kernel counts it.
enum ProcessorTime {
    /// The processor time of this process since its start.
    static var ofProcess: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
