import Foundation

// histories FIRST COUNT FILE: runs the inputs of so many seeds, and fetches of a twentieth as many events. FILE holds the seed
// being run, for when the process crashes.
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

do {
    let run = { (count: Int) in try InputHistories(first: first, count: count) { seed.pointee = $0 }.run() }
    _ = try run(min(count, 10_000))
    let before = InputHistories.residentPages()
    let counts = try run(count)
    let growth = InputHistories.residentPages() - before
    if growth > 4096 { throw InputHistories.Fault(seed: first, parser: "all", what: "memory grows by \(growth) pages") }
    if count > 1 { try InputHistories.checkLinearity(first: first, perParser: 20, length: 16_384) }
    let fetches = try FetchHistory.run(first: first, steps: max(1, count / 20)) { seed.pointee = $0 }
    print("fetches: \(fetches)")
    print(counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
