import Foundation

/// The files and connections that the process may have open.
enum OpenFiles {
    /// Raises the limit to what the system allows. If that fails, the limit stays.
    static func allowAsManyAsPossible() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Opens the standard streams that are closed, so that what is opened later does not get their numbers: a body would go
    /// to a socket. Reading such a stream, or writing to it, fails.
    static func occupyStandardOnes() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest number that is free is this one.
            _ = open("/dev/null", mode)
        }
    }
}
