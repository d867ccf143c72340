import Foundation

/// The files, and connections, that the process may have open.
enum OpenFiles {
    /// Raises the limit to what the system allows. If that fails, the limit stays.
    static func allowAsManyAsPossible() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
