import Foundation
import NetworkStack

/// Takes the app once round on one stack and notes what came out, for a table.
struct Tour {
    /// A line of the table.
    struct Note {
        let what: String
        let outcome: String
    }

    private(set) var notes: [Note] = []
    private let name: String

    init(name: String) { self.name = name }

    mutating func take<Stack>(_ app: App<Stack>) async throws {
        try await note("JSON fetched and decoded") {
            let catalog = try await app.catalog()
            guard catalog == Catalog(name: "network-stack", numbers: [1, 2, 3], nested: .init(flag: true)) else {
                throw Surprise("the JSON says \(catalog)")
            }
            return "\(catalog.name), \(catalog.numbers)"
        }
        try await note("what is not there") {
            let status = try await app.missing()
            guard status == .notFound else { throw Surprise("the status is \(status)") }
            return ".http(\(status))"
        }
        try await note("a timeout of 0.3 s") {
            let began = ContinuousClock.now
            let clock = try await app.tooSlow(within: .milliseconds(300))
            let taken = ContinuousClock.now - began
            guard clock == .total, taken >= .milliseconds(300) else {
                throw Surprise("\(clock) ran out after \(taken)")
            }
            return ".timedOut(.\(clock)) after \(taken.milliseconds) ms"
        }
        try await note("a cancel in mid response") {
            ".cancelled within \(try await app.givenUp(after: .milliseconds(100)).milliseconds) ms"
        }
        let (count, width) = (2048, 32)
        let began = (clock: ContinuousClock.now, cpu: processorTime())
        try await note("\(count) fetches of 1 KiB, \(width) at a time") {
            let bytes = try await app.many(count, at: width)
            guard bytes == count / width * width * 1024 else { throw Surprise("\(bytes) bytes came") }
            return "\(bytes / 1024) KiB"
        }
        let made = Double(count / width * width)
        let cpu = (processorTime() - began.cpu) / made * 1_000_000
        let rate = made / (ContinuousClock.now - began.clock).seconds
        notes.append(Note(what: "  processor time per fetch", outcome: "\(Int(cpu)) us"))
        notes.append(Note(what: "  fetches per second", outcome: "\(Int(rate))"))
    }

    private mutating func note(_ what: String, _ act: () async throws -> String) async throws {
        let outcome: String
        do { outcome = try await act() } catch { throw TourFailure(stack: name, step: what, cause: error) }
        print("  \(what): \(outcome)")
        notes.append(Note(what: what, outcome: outcome))
    }
}

/// A step of a tour failed.
struct TourFailure: Error, CustomStringConvertible {
    let stack: String
    let step: String
    let cause: any Error

    var description: String { "\(stack), \(step): \(cause)" }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
    var milliseconds: String { String(format: "%.1f", seconds * 1000) }
}

/// The processor time this process has used, in seconds.
private func processorTime() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
