internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP2

/// The server did not process the request: its stream was refused, excluded by GOAWAY, or never opened (RFC 9113 section 8.7).
struct UnprocessedError: Error {}

extension HTTPClient.Configuration {
    /// Reports ``UnprocessedError`` for streams of HTTP/2 that the server did not process. NIO reports them like streams that the
    /// server has cancelled, which may have been processed.
    mutating func reportUnprocessedStreams() {
        http2ConnectionDebugInitializer = { connection in
            connection.eventLoop.makeCompletedFuture {
                try connection.pipeline.syncOperations.addHandler(GoAwayHandler())
            }
        }
        http2StreamChannelDebugInitializer = { stream in
            stream.eventLoop.makeCompletedFuture {
                let connection = try? stream.parent?.pipeline.syncOperations.handler(type: GoAwayHandler.self)
                try stream.pipeline.syncOperations.addHandler(UnprocessedStreamHandler(connection), position: .first)
            }
        }
    }
}

/// Keeps the last stream that the server of a connection processes. NIO shows it GOAWAY before it ends the streams beyond.
private final class GoAwayHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    /// `nil` before GOAWAY.
    private(set) var lastStream: HTTP2StreamID?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A later GOAWAY never names a later stream (RFC 9113 section 6.8).
        if case .goAway(let last, _, _) = unwrapInboundIn(data).payload { lastStream = last }
        context.fireChannelRead(data)
    }
}

/// Reports to AsyncHTTPClient's handlers of a stream that the server did not process it.
private final class UnprocessedStreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    private let connection: GoAwayHandler?

    init(_ connection: GoAwayHandler?) { self.connection = connection }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isRefused = (error as? NIOHTTP2Errors.StreamClosed)?.errorCode == .refusedStream
        context.fireErrorCaught(isRefused || isExcluded(context.channel) ? UnprocessedError() : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // A request that has ended ignores it.
        if isExcluded(context.channel) { context.fireErrorCaught(UnprocessedError()) }
        context.fireChannelInactive()
    }

    /// Whether the stream is beyond the last one of GOAWAY, or has no number because nothing of it was sent.
    private func isExcluded(_ stream: any Channel) -> Bool {
        guard let number = try? stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID) else { return true }
        return connection?.lastStream.map { $0 < number } ?? false
    }
}
