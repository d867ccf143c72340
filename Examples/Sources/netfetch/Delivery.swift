import Foundation
import NetworkStack
import Synchronization

/// Writes what one fetch of the command line brings, as it comes.
final class Delivery: Receiver {
    /// What is wanted of it.
    struct Wishes: Sendable {
        /// The file for the content; `nil` for standard output.
        var file: String?
        /// A file for the heads; `-` for standard output.
        var headsFile: String?
        var showsHeads = false
        /// Whether content goes nowhere unless there is a file for it.
        var isQuiet = false
        var digests = false
        var failsByStatus = false
        var isVerbose = false
        var drawsProgress = false
    }

    private struct State {
        var content: ContentFile
        var heads: ContentFile?
        var digest = SHA256()
        var bar: ProgressBar?
        var isDropped = false
        var failure: (any Error)?
    }

    private let wishes: Wishes
    private let state: Mutex<State>

    init(_ wishes: Wishes) {
        self.wishes = wishes
        var first = State(content: ContentFile(wishes.file))
        if let headsFile = wishes.headsFile { first.heads = ContentFile(headsFile) }
        if wishes.drawsProgress { first.bar = ProgressBar() }
        state = Mutex(first)
    }

    /// The digest of the content, in hexadecimal.
    var hexDigest: String { state.withLock { $0.digest.hexDigest } }

    /// What could not be written, if anything.
    var failure: (any Error)? { state.withLock { $0.failure } }

    func begins(_ request: HTTP.Request) {
        state.withLock { $0.digest = SHA256() }
        if wishes.isVerbose { Trace.begins(request) }
    }

    func entered(_ phase: HTTP.Phase) { if wishes.isVerbose { Trace.entered(phase) } }

    func received(report: ServerTrustReport) { Trace.write("* not pinned: \(report.error)\n") }

    func received(informational response: HTTP.Response) { received(head: response) }

    func received(head response: HTTP.Response) {
        if wishes.isVerbose { Trace.received(response) }
        state.withLock { state in
            state.isDropped = wishes.failsByStatus && response.status.rawValue >= 400
            state.bar?.begin(total: response.headers[.contentLength].flatMap { Int64($0) })
            guard wishes.showsHeads || state.heads != nil else { return }
            let text = Data(response.headText.utf8)
            do {
                if wishes.showsHeads, !state.isDropped { try state.content.write(text) }
                try state.heads?.write(text)
            } catch {
                state.failure = state.failure ?? error
            }
        }
    }

    func received(content: Data) throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isDropped { return }
            state.bar?.add(content.count)
            if wishes.digests { state.digest.update(content) }
            if wishes.isQuiet, wishes.file == nil { return }
            do { try state.content.write(content) } catch {
                state.failure = error
                throw error
            }
        }
    }

    /// Nothing more comes.
    func end(isWhole: Bool) {
        state.withLock { state in
            state.bar?.end()
            if isWhole, wishes.file != nil, !state.isDropped, state.failure == nil {
                do { _ = try state.content.open() } catch { state.failure = error }
            }
            state.content.close()
            state.heads?.close()
        }
    }
}

extension HTTP.Response {
    /// The head as it is written over HTTP/1.1, without a reason phrase, which HTTP/2 does not have.
    var headText: String {
        headers.reduce("\(version) \(status)\r\n") { $0 + "\($1.name): \($1.value)\r\n" } + "\r\n"
    }
}
