import ArgumentParser
import Dispatch
import Foundation
import NetworkStack
import Synchronization

/// The fetches of a command line: every URL, as often as asked, so many at once.
struct CommandLineFetches {
    private struct Fetch: Sendable {
        let url: String
        let order: Order
        let file: String?
    }

    private let command: Netfetch
    private let stacks: Stacks
    private let width: Int

    private let choice: StackChoice

    init(_ command: Netfetch, stacks: Stacks, choice: StackChoice, width: Int) {
        self.command = command
        self.stacks = stacks
        self.choice = choice
        self.width = width
    }

    /// Runs them all.
    ///
    /// - Returns: The exit code.
    func run() -> Int32 {
        var usual = command.transfer.options()
        usual.collectsServerPins = command.output.showsPins
        let codes = Codes()
        let places = DispatchSemaphore(value: width)
        for number in 0..<(command.several.times * command.urls.count) {
            let (url, index) = (command.urls[number % command.urls.count], number % command.urls.count)
            places.wait()
            let end: @Sendable (Int32) -> Void = { code in
                codes.set(code, at: number)
                places.signal()
            }
            do {
                var request = try command.request.request(for: url)
                if let cookies = command.memory.ownCookies { request.headers.append(cookies, for: .cookie) }
                var (options, choice) = (usual, choice)
                choice.acceptsAnything = try !command.request.leavesOutAccept()
                options.digestCredentials = try command.request.digestCredentials(for: request.url)
                let fetch = Fetch(
                    url: url,
                    order: Order(
                        request: request,
                        options: options,
                        stack: choice,
                        retries: command.transfer.retries
                    ),
                    file: try file(for: request, at: index)
                )
                try start(fetch, end)
            } catch {
                end(report(error, url: url))
            }
        }
        for _ in 0..<width { places.wait() }
        for _ in 0..<width { places.signal() }
        return codes.first
    }

    private func file(for request: HTTP.Request, at index: Int) throws -> String? {
        if index < command.output.files.count { return command.output.files[index] }
        guard command.output.usesRemoteNames else { return nil }
        // As it is written, like curl's: an escaped slash would make it a path, to anywhere.
        let name =
            request.url.path(percentEncoded: true).utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) }
            ?? ""
        guard !name.isEmpty, !request.url.hasDirectoryPath, name != "..", name != "." else {
            throw Failure(.url, "The URL names no file; give it one with -o.")
        }
        return name
    }

    private func start(_ fetch: Fetch, _ end: @escaping @Sendable (Int32) -> Void) throws {
        let output = command.output
        var wishes = Delivery.Wishes()
        wishes.file = fetch.file
        wishes.headsFile = output.headsFile
        wishes.showsHeads = (output.includesHeads || command.request.asksForHead) && !output.printsJSON
        wishes.isQuiet = output.printsJSON || output.showsPins
        wishes.digests = output.printsJSON
        wishes.failsByStatus = output.failsByStatus
        wishes.isVerbose = output.isVerbose
        let contentOnTerminal = fetch.file == nil && !output.printsJSON && isatty(STDOUT_FILENO) == 1
        wishes.drawsProgress =
            !output.isSilent && !output.isVerbose && width == 1
            && ProgressBar.hasPlace(contentOnTerminal: contentOnTerminal)
        let delivery = Delivery(wishes)
        let carrier = try stacks.carrier(for: fetch.order.stack)
        carrier.fetch(fetch.order, receiver: delivery) { outcome in
            delivery.end(isWhole: outcome.failure == nil)
            if output.isVerbose { Trace.ended(outcome) }
            let pins = output.showsPins ? (outcome.metrics.serverPins ?? []).map { "\($0)" } : nil
            if output.printsJSON {
                show(outcome.json(url: fetch.url, digest: delivery.hexDigest, pins: pins).text + "\n")
            } else if let pins {
                show(pins.map { $0 + "\n" }.joined())
            }
            end(code(of: outcome, delivery))
        }
    }

    /// Why standard output takes no more lines, if it does not.
    private static let lines = Mutex<LocalFileError?>(nil)

    private func show(_ text: String) {
        Self.lines.withLock { failure in
            if failure == nil, !LocalFile.write(Data(text.utf8), to: STDOUT_FILENO) {
                failure = LocalFileError("standard output", exitCode: 23)
            }
        }
    }

    private func code(of outcome: Outcome, _ delivery: Delivery) -> Int32 {
        if let failure = delivery.failure as? LocalFileError ?? Self.lines.withLock({ $0 }) { return tell(failure) }
        if let failure = outcome.failure { return tell(failure) }
        guard let status = outcome.head?.status, command.output.failsByStatus, status.rawValue >= 400 else { return 0 }
        complain("netfetch: (22) the server answered with \(status)")
        return 22
    }

    /// Tells what kept a fetch from beginning.
    private func report(_ error: any Error, url: String) -> Int32 {
        let failure = error as? Failure ?? Failure(.other, "\(error)")
        if command.output.printsJSON { show(Outcome.json(url: url, failure: failure).text + "\n") }
        return (error as? LocalFileError).map(tell) ?? tell(failure)
    }

    private func tell(_ error: LocalFileError) -> Int32 {
        complain("netfetch: (\(error.exitCode)) \(error)")
        return error.exitCode
    }

    private func tell(_ failure: Failure) -> Int32 {
        let code = failure.kind.exitCode
        complain("netfetch: (\(code)) \(failure.kind.rawValue): \(failure.message)")
        return code
    }

    /// Says what went wrong.
    private func complain(_ text: String) {
        if !command.output.isSilent || command.output.showsErrors { Trace.write(text + "\n") }
    }
}

/// The exit codes of the fetches, by their place on the command line.
private final class Codes: Sendable {
    private let state = Mutex<(place: Int, code: Int32)>((Int.max, 0))

    /// That of the first that failed, or 0.
    var first: Int32 { state.withLock { $0.code } }

    func set(_ code: Int32, at place: Int) {
        state.withLock { if code != 0, place < $0.place { $0 = (place, code) } }
    }
}

extension Outcome {
    /// The line of --json.
    func json(url asked: String, digest: String, pins: [String]?) -> JSON {
        func time(_ duration: Duration?) -> JSON { duration.map { .number($0.milliseconds) } ?? .null }
        let line = JSON.members([
            "url": .string(asked),
            "effective_url": .string(url.absoluteString),
            "status": head.map { .integer(Int64($0.status.rawValue)) } ?? .null,
            "http_version": .optional(head?.version.number),
            "headers": head?.headers.json ?? .array([]),
            "body_bytes": .integer(count),
            "body_sha256": .string(digest),
            "hops": .integer(Int64(hops)),
            "reused": metrics.isConnectionReused.map { .bool($0) } ?? .null,
            "timings": .members([
                "queue": time(metrics.queue), "dns": time(metrics.resolved), "connect": time(metrics.connected),
                "tls": time(metrics.secured), "first_byte": time(metrics.firstByte), "total": time(elapsed),
            ]),
            "error": failure.map(\.json) ?? .null,
        ])
        guard let pins, case .object(let members) = line else { return line }
        return .object(members + [.init(name: "pins", value: .array(pins.map { .string($0) }))])
    }

    /// The line of --json for what could not begin.
    static func json(url: String, failure: Failure) -> JSON {
        .members([
            "url": .string(url), "effective_url": .null, "status": .null, "http_version": .null, "headers": .array([]),
            "body_bytes": .integer(0), "body_sha256": .string(SHA256().hexDigest), "hops": .integer(0), "reused": .null,
            "timings": .members([
                "queue": .null, "dns": .null, "connect": .null, "tls": .null, "first_byte": .null, "total": .null,
            ]), "error": failure.json,
        ])
    }
}

extension Failure {
    var json: JSON {
        .members([
            "kind": .string(kind.rawValue), "phase": .optional(phase?.rawValue), "code": .optional(code),
            "message": .string(message),
        ])
    }
}
