import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// What the figures were measured on.
enum Machine {
    /// Lets this process, and those it starts, open as many files as the system allows.
    ///
    /// - Returns: How many that are.
    static func raiseOpenFileLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 else { return 1024 }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    static func facts() -> [String: String] {
        func first(_ command: [String]) -> String {
            let text = (try? Shell.run(command)).map { $0.text + $0.errorText } ?? ""
            return text.split(separator: "\n").first.map(String.init) ?? "not there"
        }
        let model =
            (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n")
            .first { $0.hasPrefix("model name") }?.split(separator: ":").last.map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        return [
            "processor": "\(model ?? "unknown"), \(ProcessInfo.processInfo.processorCount) cores",
            "cores": "clients on \(Cores.shared.client), servers on \(Cores.shared.server)"
                + (Cores.shared.remark.map { ": \($0)" } ?? ""),
            "kernel": first(["uname", "-sr"]),
            "libcurl": first(["curl", "--version"]),
            "swift": first(["swift", "--version"]),
            "nginx": first(["env", "PATH=/usr/sbin:/usr/bin:/bin", "nginx", "-v"]),
            "go": first(["go", "version"]),
            "rust": first(["rustc", "--version"]),
        ]
    }
}
