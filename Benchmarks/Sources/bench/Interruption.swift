import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// What Ctrl-C does: the first ends the run where it is, with a report of what there is; the second ends the program.
final class Interruption: Sendable {
    static let shared = Interruption()

    private let state = Mutex((isRequested: false, running: Set<pid_t>()))

    private init() {
        guard signals.write >= 0 else { return }
        // A handler, unlike a signal that is ignored, is no inheritance of the programs that are run.
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                signal(number, SIG_DFL)
                var byte: UInt8 = 1
                write(signals.write, &byte, 1)
            }
        }
        Thread.detachNewThread { [self] in
            var byte: UInt8 = 0
            while read(signals.read, &byte, 1) == 1 { request() }
        }
    }

    /// Whether the run is to end.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Waits for a process, which an interruption ends.
    func ending<Value>(_ process: Process, _ body: () throws -> Value) rethrows -> Value {
        let identifier = process.processIdentifier
        let isLate = state.withLock { state in
            state.running.insert(identifier)
            return state.isRequested
        }
        if isLate { kill(identifier, SIGTERM) }
        defer { _ = state.withLock { $0.running.remove(identifier) } }
        return try body()
    }

    private func request() {
        let running = state.withLock { state in
            state.isRequested = true
            return state.running
        }
        for identifier in running { kill(identifier, SIGTERM) }
    }
}

/// What the handler of a signal may do is little: it writes into this pipe.
private let signals: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}()
