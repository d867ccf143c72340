internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOFoundationEssentialsCompat
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOPosix
internal import NIOSSL
internal import NetworkStack

/// Passes the events of a client's task to a transfer.
final class ClientDelegate: HTTPClientResponseDelegate {
    private let transfer: RepeatedTransfer.Attempt
    private let repeated: RepeatedTransfer

    init(_ transfer: RepeatedTransfer.Attempt, of repeated: RepeatedTransfer) {
        (self.transfer, self.repeated) = (transfer, repeated)
    }

    func didSendRequestHead(task: HTTPClient.Task<Void>, _: HTTPRequestHead) {
        transfer.entered(transfer.body == nil ? .waiting : .sending)
    }

    func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) { transfer.sent(part.readableBytes) }

    func didSendRequest(task: HTTPClient.Task<Void>) { transfer.entered(.waiting) }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let version = HTTP.Version(major: head.version.major, minor: head.version.minor)
        // NIO adds a Transfer-Encoding over HTTP/2, where there is none.
        let fields = head.headers.map { HTTP.Headers.Field(name: .init($0.name), value: $0.value) }
            .filter { version != .http2 || $0.name != .transferEncoding }
        transfer.head(HTTP.StatusCode(Int(head.status.code)), version, fields)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let room = task.eventLoop.makePromise(of: Void.self)
        transfer.body(Data(buffer: buffer)) { room.succeed() }
        return room.futureResult
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) { transfer.finished() }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) {
        switch error {
        // NIO's decompressor misses the body of a response that has none.
        case NIOHTTPDecompression.ExtraDecompressionError.truncatedData where !transfer.expectsBody:
            transfer.finished()
        case HTTPClientError.connectTimeout, HTTPClientError.tlsHandshakeTimeout:
            transfer.failed(.timedOut(.connect, during: .connecting))
        case HTTPClientError.alreadyShutdown: transfer.failed(.shutDown)
        case HTTPParserError.headerOverflow:
            transfer.failed(.headTooLarge(limit: min(transfer.hop.options.limits.head, 80 * 1024)))
        case HTTPParserError.invalidConstant, HTTPParserError.invalidVersion, HTTPParserError.invalidStatus:
            transfer.failed(.badResponse)
        case is UnprocessedError:
            repeated.noteUnprocessed()
            transfer.failed(.receive, "The server did not process the request.")
        // The connection was closing or closed when the request came to it.
        case HTTPClientError.cancelled where transfer.phase == .connecting,
            ChannelError.ioOnClosedChannel where transfer.phase == .connecting:
            repeated.noteUnprocessed()
            transfer.failed(.send, "The connection was closed before the request.")
        default: transfer.failed(kind(of: error), "\(error)")
        }
    }

    private func kind(of error: any Error) -> HTTP.FailureKind {
        switch error {
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: .dns
        case NIOSSLError.uncleanShutdown, HTTPClientError.remoteConnectionClosed:
            transfer.hasHead ? .truncated : .empty
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: .tls
        case HTTPParserError.invalidEOFState: .truncated
        case is HTTPParserError: .malformed
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError: .decoding
        // A kept connection that was closed before the request.
        case ChannelError.ioOnClosedChannel where !transfer.hasHead: .send
        default: transfer.phase == .connecting ? .connect : .receive
        }
    }
}

/// Matches an error of a type whose values are constants.
private func ~= <Constant: Error & Equatable>(pattern: Constant, error: any Error) -> Bool {
    error as? Constant == pattern
}
