import Foundation
import NetworkStack
import Synchronization

/// Writes what one fetch of the command line brings, as it comes.
final class Delivery: Receiver {
    /// What to write, and where.
    struct Settings: Sendable {
        /// The file for the body; `nil` for standard output, `-` for that even if it is a terminal.
        var file: String?
        /// A file for the heads; `-` for standard output.
        var headsFile: String?
        var showsHeads = false
        /// Whether the body is dropped unless there is a file for it.
        var isQuiet = false
        var digests = false
        var failsByStatus = false
        var refusesRedirects = false
        var drawsProgress = false
        /// The first byte that was asked for, if a download is resumed.
        var resumesAt: Int64 = 0
        var speed: ByteCount?
        /// What -v shows.
        var trace: Trace?
    }

    private struct State {
        var body: BodyFile
        var heads: BodyFile?
        var digest = SHA256()
        var bar: ProgressBar?
        var pace: Pace?
        var isDropped = false
        /// What the fetch fails with: at its end if the body is dropped, else when a body comes.
        var refusal: Failure?
        var failure: (any Error)?
        var isFirst = true
    }

    private let settings: Settings
    private let state: Mutex<State>

    init(_ settings: Settings) {
        self.settings = settings
        var first = State(body: BodyFile(settings.file, appends: settings.resumesAt > 0))
        if let headsFile = settings.headsFile { first.heads = BodyFile(headsFile) }
        if settings.drawsProgress { first.bar = ProgressBar() }
        state = Mutex(first)
    }

    /// The digest of the body, in hexadecimal.
    var hexDigest: String { state.withLock { $0.digest.hexDigest } }

    /// Whether the body is not what was asked for, and was dropped.
    var isDropped: Bool { state.withLock { $0.isDropped } }

    /// What could not be written, if anything.
    var failure: (any Error)? { state.withLock { $0.failure } }

    func begins(_ hop: HTTPHop) {
        state.withLock { state in
            state.digest = SHA256()
            state.isFirst = true
        }
        settings.trace?.begins(hop)
    }

    func entered(_ phase: HTTP.Phase) { settings.trace?.entered(phase) }

    func sent(_ count: Int64, of length: Int64?) { state.withLock { $0.bar?.sent(count, of: length) } }

    func received(report: ServerTrustReport) { Trace.write("* not pinned: \(report.error)\n") }

    func received(informational response: HTTP.Response) {
        settings.trace?.received(response)
        state.withLock { write(response, &$0) }
    }

    func received(head response: HTTP.Response) {
        settings.trace?.received(response)
        state.withLock { state in
            (state.isDropped, state.refusal) = judge(response)
            state.bar?.begin(total: response.contentLength)
            write(response, &state)
        }
    }

    /// Whether the body of a response is dropped, and what a body is refused with.
    private func judge(_ response: HTTP.Response) -> (isDropped: Bool, refusal: Failure?) {
        let status = response.status.rawValue
        if settings.refusesRedirects, response.leadsOn {
            return (true, Failure(.tooManyRedirects, "No redirect may be followed (--max-redirs 0)."))
        }
        guard settings.resumesAt > 0 else { return (settings.failsByStatus && status >= 400, nil) }
        // The file is complete already.
        if status == 416 { return (true, nil) }
        let range = response.headers["Content-Range"]?.drop { !$0.isNumber }.prefix { $0.isNumber }
        if status == 206, range.flatMap({ Int64($0) }) == settings.resumesAt { return (false, nil) }
        if settings.failsByStatus, status >= 400 { return (true, nil) }
        if response.contentLength == settings.resumesAt { return (true, nil) }
        return (false, Failure(.other, "The server sends no part of the body; nothing was resumed.", exitCode: 33))
    }

    private func write(_ response: HTTP.Response, _ state: inout State) {
        guard settings.showsHeads || state.heads != nil else { return }
        let text = Data(response.headText.utf8)
        do {
            if settings.showsHeads, !(settings.failsByStatus && state.isDropped) { try state.body.write(text) }
            try state.heads?.write(text)
        } catch {
            state.failure = state.failure ?? error
        }
    }

    func received(body: Data) throws {
        let delay: Duration? = try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isDropped { return nil }
            if let refusal = state.refusal { throw refusal }
            state.bar?.add(body.count)
            if settings.digests { state.digest.update(data: body) }
            if !settings.isQuiet || settings.file != nil {
                do {
                    try refuseBinary(body, &state)
                    try state.body.write(body)
                } catch {
                    state.failure = error
                    throw error
                }
            }
            guard let speed = settings.speed else { return nil }
            if state.pace == nil { state.pace = Pace(speed) }
            return state.pace?.delay(after: body.count)
        }
        // The server is slowed down, as what waits here is bounded.
        if let delay, delay > .zero { Thread.sleep(forTimeInterval: delay.milliseconds / 1000) }
    }

    /// Refuses to write a body to a terminal that begins with what is no text, as curl does.
    private func refuseBinary(_ body: Data, _ state: inout State) throws {
        guard state.isFirst else { return }
        state.isFirst = false
        guard settings.file == nil, body.contains(0), Terminal.showsOutput else { return }
        Trace.write(
            """
            Warning: Binary output can mess up your terminal. Use "--output -" to tell
            Warning: netfetch to output it to your terminal anyway, or consider "--output
            Warning: <FILE>" to save to a file.\n
            """
        )
        throw LocalFileError("Failure writing output to destination", code: 23)
    }

    /// The fetch has ended.
    func end(isWhole: Bool) {
        state.withLock { state in
            state.bar?.end()
            if isWhole, settings.file != nil, !state.isDropped, state.failure == nil {
                do { _ = try state.body.open() } catch { state.failure = error }
            }
            if state.isDropped { state.failure = state.failure ?? state.refusal }
            state.body.close()
            state.heads?.close()
        }
    }
}

extension HTTP.Response {
    /// The head as it is written over HTTP/1.1, without a reason phrase, which HTTP/2 does not have.
    var headText: String {
        headers.reduce("\(version) \(status)\r\n") { $0 + "\($1.name): \($1.value)\r\n" } + "\r\n"
    }

    /// Whether it is a redirect that a client may follow.
    var leadsOn: Bool { [301, 302, 303, 307, 308].contains(status.rawValue) && headers.contains(.location) }
}
