import ArgumentParser
import Dispatch
import Foundation
import NetworkStack
import Synchronization

/// The fetches of a command line: every URL, as often as asked, one after the other or several at once.
struct CommandLineFetches {
    private struct Fetch: Sendable {
        let url: String
        /// Its place on the command line.
        let number: Int
        let order: Order
        /// Where the body goes; `nil` for standard output.
        let file: String?
        /// The first byte that is asked for, if a download is resumed.
        let resumesAt: Int64
    }

    private let command: Netfetch
    private let data: DataPieces
    private let destinations: Destinations
    private let writeOut: WriteOut?
    private let stacks: Stacks
    private let choice: StackChoice
    private let width: Int

    /// Reads what is shared by all.
    ///
    /// - Throws: A ``LocalFileError`` or a ``UsageError``.
    init(_ command: Netfetch, _ line: CommandLineReader, stacks: Stacks, choice: StackChoice) throws {
        self.command = command
        data = DataPieces(line)
        destinations = Destinations(line, command.output)
        writeOut = try command.output.writeOut.map { try WriteOut($0) }
        self.stacks = stacks
        self.choice = choice
        width = command.several.width
    }

    /// Runs them all.
    ///
    /// - Returns: The exit code.
    func run() -> Int32 {
        let codes = Codes()
        let places = DispatchSemaphore(value: width)
        for number in 0..<(command.several.times * command.urls.count) {
            let (url, index) = (command.urls[number % command.urls.count], number % command.urls.count)
            places.wait()
            let end: @Sendable (Int32) -> Void = { code in
                codes.set(code, at: number)
                places.signal()
            }
            do { try start(try fetch(url, at: index), end) } catch { end(report(error, url: url, at: index)) }
        }
        for _ in 0..<width { places.wait() }
        for _ in 0..<width { places.signal() }
        return codes.first
    }

    private func fetch(_ url: String, at index: Int) throws -> Fetch {
        var request = try command.request.request(for: url, data: data)
        if let cookies = command.memory.ownCookies { request.headers.append(cookies, for: .cookie) }
        let file = try destinations.file(for: request, at: index)
        let resumesAt = command.transfer.resumption?.offset(in: file) ?? 0
        if let range = command.transfer.range {
            request.headers.append("bytes=\(range)" + (range.allSatisfy(\.isNumber) ? "-" : ""), for: .range)
        } else if resumesAt > 0 {
            request.headers.append("bytes=\(resumesAt)-", for: .range)
        }
        var (options, choice) = (command.transfer.options, choice)
        choice.sendsDefaultAccept = try !command.request.leavesOutAccept()
        options.collectsServerPins = command.output.showPins || command.output.isVerbose && choice.backend == .curl
        options.digestCredentials = try command.request.digestCredentials(for: request.url)
        return Fetch(
            url: url,
            number: index,
            order: try Order(
                request: request,
                options: options,
                stack: choice,
                retrying: command.transfer.retrying,
                speed: command.transfer.limitRate.flatMap { $0.bytes > 0 ? $0 : nil }
            ).validated(),
            file: file,
            resumesAt: resumesAt
        )
    }

    private func settings(for fetch: Fetch) -> Delivery.Settings {
        let output = command.output
        var settings = Delivery.Settings()
        settings.file = fetch.file
        settings.headsFile = output.headsFile
        settings.showsHeads = (output.includesHeads || command.request.asksForHead) && !output.summary
        settings.isQuiet = output.summary || output.showPins
        settings.digests = output.summary
        settings.failsByStatus = output.failsByStatus
        settings.refusesRedirects = command.transfer.refusesRedirects
        settings.resumesAt = fetch.resumesAt
        settings.speed = fetch.order.speed
        settings.trace = output.isVerbose ? Trace(of: fetch.order.stack) : nil
        let showsBody = (fetch.file.map { $0 == "-" } ?? !settings.isQuiet) && Terminal.showsOutput
        settings.drawsProgress =
            !output.isSilent && !output.isVerbose && !output.hidesProgress && width == 1 && !showsBody
            && (output.forcesProgress || Terminal.showsErrors)
        return settings
    }

    private func start(_ fetch: Fetch, _ end: @escaping @Sendable (Int32) -> Void) throws {
        let settings = settings(for: fetch)
        let delivery = Delivery(settings)
        let carrier = try stacks.carrier(for: fetch.order.stack)
        carrier.fetch(fetch.order, receiver: delivery) { outcome in
            delivery.end(isWhole: outcome.failure == nil)
            settings.trace?.ended(outcome)
            let pins = command.output.showPins ? (outcome.metrics.serverPins ?? []).map { "\($0)" } : nil
            if command.output.summary {
                show(outcome.summary(url: fetch.url, digest: delivery.hexDigest, pins: pins).text + "\n")
            } else if let pins {
                show(pins.map { $0 + "\n" }.joined())
            }
            let (code, message) = verdict(on: outcome, delivery)
            if let message { complain("netfetch: (\(code)) \(message)") }
            end(
                writeOut(
                    of: FetchReport(
                        url: fetch.url,
                        number: fetch.number,
                        outcome: outcome,
                        stack: fetch.order.stack,
                        downloaded: delivery.isDropped ? 0 : outcome.count,
                        file: fetch.file,
                        exitCode: code,
                        message: message
                    )
                )
            )
        }
    }

    /// Writes the text of -w. Returns the exit code of the fetch.
    private func writeOut(of report: FetchReport) -> Int32 {
        var code = report.exitCode
        for (target, text) in writeOut?.parts(of: report) ?? [] {
            switch target {
            case .standardOutput: if !text.isEmpty { show(text) }
            case .standardError: if !text.isEmpty { Trace.write(text) }
            case .file(let path, let appends):
                var file = BodyFile(path, appends: appends)
                do { try file.write(Data(text.utf8)) } catch {
                    complain("netfetch: (\(error.exitCode)) \(error)")
                    if code == 0 { code = error.exitCode }
                }
                file.close()
            }
        }
        return code
    }

    /// Why standard output cannot be written to, if it cannot.
    private static let lines = Mutex<LocalFileError?>(nil)

    private func show(_ text: String) {
        Self.lines.withLock { failure in
            if failure == nil, !LocalFile.write(Data(text.utf8), to: STDOUT_FILENO) {
                failure = LocalFileError("standard output", exitCode: 23)
            }
        }
    }

    /// The exit code of a fetch, and what went wrong if it is not 0.
    private func verdict(on outcome: Outcome, _ delivery: Delivery) -> (code: Int32, message: String?) {
        switch delivery.failure ?? Self.lines.withLock({ $0 }) ?? outcome.failure {
        case let error as LocalFileError: return (error.exitCode, "\(error)")
        case let failure as Failure: return (failure.exitCode, "\(failure.kind.rawValue): \(failure.message)")
        default: break
        }
        guard let status = outcome.head?.status, command.output.failsByStatus, status.rawValue >= 400 else {
            return (0, nil)
        }
        return (22, "the server responded with \(status)")
    }

    /// Reports what kept a fetch from beginning. Returns its exit code.
    private func report(_ error: any Error, url: String, at index: Int) -> Int32 {
        let failure = error as? Failure ?? Failure(.other, "\(error)")
        if command.output.summary { show(Outcome.summary(url: url, failure: failure).text + "\n") }
        let code = (error as? LocalFileError)?.exitCode ?? failure.exitCode
        let message = (error as? LocalFileError).map { "\($0)" } ?? "\(failure.kind.rawValue): \(failure.message)"
        complain("netfetch: (\(code)) \(message)")
        return writeOut(
            of: FetchReport(
                url: url,
                number: index,
                outcome: nil,
                stack: choice,
                downloaded: 0,
                file: nil,
                exitCode: code,
                message: message
            )
        )
    }

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
