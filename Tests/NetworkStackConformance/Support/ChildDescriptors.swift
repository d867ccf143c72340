import FoundationEssentials
import Glibc
import NetworkStack
import NetworkStackTesting

/// The descriptors that a child process inherits from this one.
enum ChildDescriptors {
    /// The target of each descriptor of a child: a path, `socket:[number]`, `anon_inode:[eventpoll]`. The three standard ones are
    /// the child's.
    static func seen() async throws -> Set<String> {
        let folder = try TemporaryDirectory("child")
        let output = folder.file("descriptors")
        let child = try start(["/bin/ls", "-l", "/proc/self/fd"], output: output)
        var status: Int32 = 0
        try await eventually("a child lists its descriptors") { waitpid(child, &status, WNOHANG) == child }
        guard status == 0, let listed = FileManager.default.contents(atPath: output) else {
            throw ConformanceFailure("The child ended with \(status)")
        }
        let targets = String(decoding: listed, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.firstRange(of: " -> ").map { String(line[$0.upperBound...]) }
        }
        return Set(targets.filter { !$0.hasPrefix("/proc/") && $0 != output && !$0.hasPrefix("/dev/null") })
    }

    private static func start(_ words: [String], output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let copies = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, words[0], &actions, nil, copies + [nil], nil)
        guard code == 0 else { throw ConformanceFailure("posix_spawn: error \(code)") }
        return child
    }
}

/// The mode of a file, or `nil` if there is none.
func mode(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}
