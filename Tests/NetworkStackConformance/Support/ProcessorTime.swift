import Glibc

/// How long processors have worked, as the kernel counts it.
enum ProcessorTime {
    /// For this process, since it began.
    static var ofProcess: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
