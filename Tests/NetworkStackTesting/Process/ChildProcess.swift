import Foundation
import Glibc
import NetworkStack

/// A program beside the tests that never outlives them.
///
/// Foundation's Process has no process group, and a server must also end when the test process is killed or crashes. So a shell
/// watches a socket to this process, which closes when it ends. The program itself replaces another shell.
final class ChildProcess: Sendable {
    let identifier: pid_t
    private let lifeline: Int32
    /// The exit status, once the process was reaped. Until then its number is not reused.
    private let status = Lock<Int32?>(nil)

    /// Shell builtins only, so that it works with any PATH.
    private static let watch = """
        cd "$1" || exit 127
        shift
        exec 3<&0
        ( trap '' TERM INT HUP; while read -r _ <&3; do :; done; kill -9 $$ ) &
        exec 3<&- "$@" </dev/null
        """

    /// Starts the program with both outputs going to the file `output`.
    ///
    /// Throws `SystemCallError`.
    init(
        _ executable: String,
        _ arguments: [String],
        in directory: String,
        output: String,
        environment: [String: String] = [:]
    ) throws {
        let ends = try Wakeup.socketPair(nonBlocking: false)
        defer { close(ends.far) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends.far, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Descriptors that other code opened without close-on-exec would otherwise stay open in the server.
        for number in ProcessProbe.descriptors().keys where number > 2 {
            posix_spawn_file_actions_addclose(&actions, Int32(number))
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))

        let words = ["/bin/sh", "-c", Self.watch, "sh", directory, executable] + arguments
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        var identifier: pid_t = 0
        let code = Self.withCStrings(words) { words in
            Self.withCStrings(variables) { posix_spawn(&identifier, "/bin/sh", &actions, &attributes, words, $0) }
        }
        guard code == 0 else {
            close(ends.near)
            throw SystemCallError("posix_spawn of \(executable)", code: code)
        }
        self.identifier = identifier
        lifeline = ends.near
    }

    deinit {
        stop()
        close(lifeline)
    }

    /// Whether the program has not ended yet.
    var isRunning: Bool {
        status.withLock { status in
            guard status == nil else { return false }
            var info = siginfo_t()
            // WNOWAIT: the dead process keeps its number until `stop`, because the watching shell kills that number.
            return waitid(P_PID, id_t(identifier), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == 0
        }
    }

    /// Kills the program, the watching shell, and the rest of their process group; returns once the program is reaped.
    func stop() {
        status.withLock { status in
            guard status == nil else { return }
            kill(-identifier, SIGKILL)
            status = reap()
        }
    }

    /// Sends a signal to the program only, if it runs.
    func signal(_ number: Int32) {
        status.withLock { status in
            if status == nil { _ = kill(identifier, number) }
        }
    }

    /// Blocks until the program ends by itself, then returns its exit status (128 + signal when it was killed);
    /// nil, after killing it, when it is still running after `limit`.
    ///
    /// Throws `SystemCallError` when there is no thread or descriptor to wait with.
    func waitForEnd(within limit: Duration) throws -> Int32? {
        let ended = try Wakeup()
        let waiter = try WorkerThread { [identifier] in
            var info = siginfo_t()
            while waitid(P_PID, id_t(identifier), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            ended.signal()
        }
        let isInTime = ended.wait(within: limit)
        kill(-identifier, SIGKILL)  // not reaped yet, so the number is still its own
        waiter.join()
        stop()
        return isInTime ? status.withLock { $0 } : nil
    }

    private func reap() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F
    }

    private static func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
