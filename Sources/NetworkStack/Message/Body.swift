public import FoundationEssentials

extension HTTP {
    /// The content of a request.
    public enum Body: Sendable {
        /// No content.
        case none
        /// Bytes in memory.
        case bytes(Data)
        /// A file, read while it is sent, by the stack's own thread. One on a file system that may hang is better a stream.
        case file(path: String)
        /// Bytes made while they are sent.
        case stream(Stream)

        /// The length in bytes, or `nil` if it is not known before it is sent. A file's length is known once it is opened.
        public var length: Int64? {
            switch self {
            case .none: 0
            case .bytes(let data): Int64(data.count)
            case .file: nil
            case .stream(let stream): stream.length
            }
        }

        /// Whether the content can be sent again, for a redirect, a retry, or an answer to a challenge.
        public var isReplayable: Bool {
            if case .stream(let stream) = self { stream.isReplayable } else { true }
        }

        /// The fields that follow the content, if any do.
        public var trailers: Trailers? {
            if case .stream(let stream) = self { stream.trailers } else { nil }
        }

        /// Whether the content is read piece by piece.
        var isRead: Bool {
            switch self {
            case .none, .bytes: false
            case .file, .stream: true
            }
        }

        /// Whether the content is a file's, whose length is known once it is opened.
        var isFile: Bool { if case .file = self { true } else { false } }

        package var isNone: Bool { if case .none = self { true } else { false } }

        /// Opens the content for one transfer, if it has to be read piece by piece.
        ///
        /// - Parameter onReady: Called when a source that said ``HTTPBodyChunk/pending`` can go on.
        /// - Returns: The source, or `nil` if there is nothing to read.
        /// - Throws: ``OpeningError``.
        func open(onReady: @escaping @Sendable () -> Void) throws(OpeningError) -> (any HTTPBodySource)? {
            switch self {
            case .none, .bytes: return nil
            case .file(let path):
                do { return try FileBodySource(path: path) } catch { throw .unreadable(error) }
            case .stream(let stream): return try stream.open(onReady: onReady)
            }
        }

        /// Why content cannot be opened for a transfer.
        enum OpeningError: Error {
            case unreadable(FileError)
            /// It was opened before, and can be only once.
            case notReplayable
        }

        /// Bytes that an asynchronous sequence yields while they are sent.
        ///
        /// The sequence is read ahead by up to 256 KiB, and the piece that exceeds them; it is cancelled when the transfer ends
        /// early. A stack without ``HTTP/Capability/streamedRequestBody`` reads it to its end before it sends anything.
        public struct Stream: Sendable {
            /// The length in bytes if it was declared; the stream must then yield exactly as many.
            public let length: Int64?
            /// Whether the stream can be opened more than once.
            public var isReplayable: Bool { claims.isEmpty }
            /// The fields that follow the content, if any do. A part of a form can have none.
            public var trailers: Trailers?

            private let pump: @Sendable (StreamBodySource) async throws -> Void
            /// Whether it was opened already, for each part of it that can be only once.
            let claims: [Lock<Bool>]

            /// Content that can be sent once.
            ///
            /// - Parameters:
            ///   - chunks: Yields the content.
            ///   - length: The length in bytes, if known.
            public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil)
            where Chunks.Element == Data {
                self.init(chunks, length: length, sharing: Lock(false))
            }

            /// Content that can be sent once, whichever of the streams around it that share a claim is opened first.
            package init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64?, sharing claim: Lock<Bool>)
            where Chunks.Element == Data {
                self.length = length
                claims = [claim]
                pump = { source in for try await chunk in chunks { try await source.send(chunk) } }
            }

            /// Content that can be sent as often as needed.
            ///
            /// - Parameters:
            ///   - length: The length in bytes, if known.
            ///   - replaying: Makes the content anew for each time it is sent.
            public init<Chunks: AsyncSequence & Sendable>(
                length: Int64? = nil,
                replaying: @escaping @Sendable () throws -> Chunks
            ) where Chunks.Element == Data {
                self.length = length
                claims = []
                pump = { source in for try await chunk in try replaying() { try await source.send(chunk) } }
            }

            /// Content that a closure sends piece by piece, and that is opened with what it shares these claims with.
            init(
                length: Int64?,
                claims: [Lock<Bool>],
                pump: @escaping @Sendable (StreamBodySource) async throws -> Void
            ) {
                self.length = length
                self.claims = claims
                self.pump = pump
            }

            func open(onReady: @escaping @Sendable () -> Void) throws(OpeningError) -> any HTTPBodySource {
                try claim()
                let make = { @Sendable [length, trailers, pump] in
                    StreamBodySource(length: length, trailers: trailers, onReady: onReady, pump: pump)
                }
                guard isReplayable else { return make() }
                return ReplayableBodySource(make)
            }

            /// Sends the content as a part of other content, which was opened with its claims.
            func send(to source: StreamBodySource) async throws {
                let before = source.total
                try await pump(source)
                let actual = source.total - before
                if let length, actual != length { throw BodyLengthError(declared: length, actual: actual) }
            }

            /// Notes that the content is sent, and refuses if any of it was and can be only once.
            private func claim() throws(OpeningError) {
                for claim in claims {
                    let isSecond = claim.withLock { wasOpened in
                        defer { wasOpened = true }
                        return wasOpened
                    }
                    if isSecond { throw .notReplayable }
                }
            }
        }
    }
}
