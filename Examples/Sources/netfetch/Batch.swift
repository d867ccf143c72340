import Dispatch
import Foundation
import NetworkStack
import Synchronization

/// Sends the requests of standard input, many at once, and writes a line for each as it ends.
///
/// Memory is bounded: a line has a limit, no line is read while enough fetches run, and a fetch counts until its line is
/// written.
final class Batch: Sendable {
    /// What holds for a line that has nothing else.
    struct Usual: Sendable {
        var options: HTTP.Options
        var stack: StackChoice
        var retrying: Retrying
    }

    /// How many fetches run at once without --parallel-max: those that hang delay few others.
    static let usualWidth = 500

    private static let longestLine = 64 << 20

    private let stacks: Stacks
    private let usual: Usual
    private let places: DispatchSemaphore
    private let width: Int
    private let output = DispatchQueue(label: "netfetch.output")
    private let canWrite = Mutex(true)

    /// Makes a batch.
    ///
    /// - Parameters:
    ///   - stacks: The stacks to use.
    ///   - usual: What holds for a line that has nothing else.
    ///   - width: How many fetches run at once.
    init(stacks: Stacks, usual: Usual, width: Int) {
        self.stacks = stacks
        self.usual = usual
        self.width = width
        places = DispatchSemaphore(value: width)
    }

    /// Runs until standard input has ended and a line is written for each of its lines.
    ///
    /// - Returns: The exit code.
    /// - Throws: A ``LocalFileError`` if standard input cannot be read to its end; the lines before were carried out.
    func run() throws(LocalFileError) -> Int32 {
        var lines = Lines(limit: Self.longestLine)
        let reading = Result { () throws(LocalFileError) in
            while canWrite.withLock({ $0 }), let line = try lines.next() {
                places.wait()
                switch line {
                case .text(let text): take(BatchLine(text, usual: usual))
                case .tooLong: take(BatchLine(failure: Failure(.other, "The line is longer than 64 MiB.")))
                }
            }
        }
        for _ in 0..<width { places.wait() }
        for _ in 0..<width { places.signal() }
        guard canWrite.withLock({ $0 }) else { return 23 }
        try reading.get()
        return 0
    }

    private func take(_ line: BatchLine) {
        let order: Order
        let carrier: Carrier
        do {
            order = try line.order.get()
            carrier = try stacks.carrier(for: order.stack)
        } catch {
            return write(line, failure: error)
        }
        let receiver = Digesting()
        carrier.fetch(order, receiver: receiver) { [self] outcome in
            write(line, outcome, digest: receiver.hexDigest, failure: outcome.failure)
        }
    }

    private func write(_ line: BatchLine, _ outcome: Outcome? = nil, digest: String? = nil, failure: Failure?) {
        var members: [JSON.Member] = [
            .init(name: "id", value: line.id),
            .init(name: "status", value: outcome?.head.map { .integer(Int64($0.status.rawValue)) } ?? .null),
            .init(name: "headers", value: outcome?.head?.headers.json ?? .array([])),
            .init(name: "body_len", value: .integer(outcome?.count ?? 0)),
            .init(name: "body_sha256", value: .string(digest ?? SHA256().hexDigest)),
            .init(name: "error", value: .optional(failure?.kind.rawValue)),
            .init(name: "detail", value: .optional(failure?.message)),
            .init(name: "http", value: .optional(outcome?.head?.version.number)),
            .init(name: "url", value: .optional(outcome?.url.absoluteString)),
            .init(name: "ms", value: .number(outcome?.elapsed.milliseconds ?? 0)),
        ]
        if !line.ignored.isEmpty {
            members.append(.init(name: "ignored", value: .array(line.ignored.map { .string($0) })))
        }
        let text = Data((JSON.object(members).text + "\n").utf8)
        output.async { [self] in
            if !LocalFile.write(text, to: STDOUT_FILENO) { canWrite.withLock { $0 = false } }
            places.signal()
        }
    }
}

/// The lines of standard input. Empty ones are skipped.
private struct Lines {
    enum Line {
        case text(Data)
        case tooLong
    }

    private let limit: Int
    private var buffer = Data()
    /// How much of the buffer is known to have no line end.
    private var searched = 0
    private var isSkipping = false
    private var hasEnded = false

    init(limit: Int) { self.limit = limit }

    mutating func next() throws(LocalFileError) -> Line? {
        while true {
            if let end = buffer.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
                let text = Data(buffer[..<end])
                buffer = buffer[(end + 1)...]
                if let line = line(text) { return line }
            } else if hasEnded {
                let text = buffer
                buffer = Data()
                return line(text)
            } else {
                try fill()
            }
        }
    }

    private mutating func line(_ text: Data) -> Line? {
        searched = 0
        if isSkipping {
            isSkipping = false
            return .tooLong
        }
        return text.contains { $0 > 0x20 } ? .text(text) : nil
    }

    private mutating func fill() throws(LocalFileError) {
        if buffer.count > limit { isSkipping = true }
        if isSkipping { buffer = Data() }
        searched = buffer.count
        let chunk = try LocalFile.readStandardInput()
        hasEnded = chunk.isEmpty
        // A slice keeps all it was cut from.
        buffer = buffer.startIndex == 0 ? buffer : Data(buffer)
        buffer.append(chunk)
    }
}

extension HTTP.Headers {
    /// Pairs of names and values, in order.
    var json: JSON { .array(map { .array([.string($0.name.rawValue), .string($0.value)]) }) }
}

extension HTTP.Version {
    /// The number alone, as curl writes it: `1.1`, `2`.
    var number: String { major > 1 ? "\(major)" : "\(major).\(minor)" }
}

extension Duration {
    /// The duration in milliseconds, to the microsecond.
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + (Double(attoseconds) / 1e12).rounded() / 1000
    }
}
