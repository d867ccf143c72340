import Foundation
import NetworkStackTesting

// histories FIRST COUNT FILE: runs the inputs of so many seeds, histories with a twentieth as many steps, and a 200th as many
// fetches of an engine. FILE holds the current seed, in case the process crashes.
let arguments = CommandLine.arguments
guard arguments.count == 4, let first = UInt64(arguments[1]), let count = Int(arguments[2]) else {
    FileHandle.standardError.write(Data("histories FIRST COUNT FILE\n".utf8))
    exit(64)
}
let file = open(arguments[3], O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
guard file >= 0, ftruncate(file, 8) == 0,
    let place = mmap(nil, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), place != MAP_FAILED
else {
    FileHandle.standardError.write(Data("\(arguments[3]) cannot be mapped.\n".utf8))
    exit(74)
}
let seed = place.assumingMemoryBound(to: UInt64.self)
let histories: [(kind: any History.Type, share: Int)] = [
    (FetchHistory.self, 20), (PlaceQueueHistory.self, 20), (QueueHistory.self, 20), (TransferHistory.self, 20),
    (ResponseReaderHistory.self, 20), (EngineHistory.self, 200),
]

var isSound = true
/// Runs a closure and reports its failure; the next one runs all the same.
@MainActor
func attempt(_ run: () throws -> Void) {
    do { try run() } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        isSound = false
    }
}

/// A part of the name of the only histories to run.
let name = ProcessInfo.processInfo.environment["HISTORY"] ?? ""

for (kind, share) in histories where name.isEmpty || kind.subject.contains(name) {
    attempt {
        let (steps, start) = (max(1, count / share), ContinuousClock.now)
        let number = try kind.run(first: first, steps: steps) { seed.pointee = $0 }
        print("\(kind.subject): \(number) histories, at least \(steps) steps, \(ContinuousClock.now - start)")
    }
}
if name.isEmpty {
    attempt {
        let run = { (count: Int) in try InputHistories(first: first, count: count) { seed.pointee = $0 }.run() }
        _ = try run(min(count, 10_000))
        let before = InputHistories.residentPages()
        let counts = try run(count)
        let growth = InputHistories.residentPages() - before
        if growth > 4096 { throw HistoryFault(seed: first, subject: "all", "memory grows by \(growth) pages") }
        if count > 1 { try InputHistories.checkLinearity(first: first, perParser: 10, length: 8192) }
        print(counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
    }
}
exit(isSound ? 0 : 1)
