import Foundation

/// What the figures were measured on.
enum Machine {
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
            "kernel": first(["uname", "-sr"]),
            "libcurl": first(["curl", "--version"]),
            "swift": first(["swift", "--version"]),
            "nginx": first(["env", "PATH=/usr/sbin:/usr/bin:/bin", "nginx", "-v"]),
            "go": first(["go", "version"]),
            "rust": first(["rustc", "--version"]),
        ]
    }
}
