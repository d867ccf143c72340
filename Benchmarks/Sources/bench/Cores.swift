import Foundation

/// Where the clients and the servers run: on cores of their own, if this process may have two.
struct Cores: Sendable {
    static let shared = Cores()

    let client: Int
    let server: Int
    /// What is wrong with the cores there are, for the report.
    let remark: String?

    private init() {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
        let allowed = line.map { Self.list($0.dropFirst("Cpus_allowed_list:".count)) } ?? [0]
        client = allowed.first ?? 0
        // Two threads of one core share most of it.
        let path = "/sys/devices/system/cpu/cpu\(client)/topology/thread_siblings_list"
        let siblings = Self.list(((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")[...])
        let others = allowed.dropFirst()
        server = others.first { !siblings.contains($0) } ?? others.first ?? client
        remark =
            if server == client {
                "There is one core for clients and servers: the figures are no results."
            } else if siblings.contains(server) {
                "Clients and servers run on two threads of one core and disturb each other."
            } else {
                nil
            }
    }

    /// Reads the kernel's lists, such as "0-3,8".
    private static func list(_ text: Substring) -> [Int] {
        text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).flatMap { part -> [Int] in
            let ends = part.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return [] }
            return Array(first...last)
        }
    }
}
