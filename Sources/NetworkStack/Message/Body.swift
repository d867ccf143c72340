public import FoundationEssentials

extension HTTP {
    /// The body of a request.
    public enum Body: Sendable {
        /// No body.
        case none
        /// Bytes in memory.
        case bytes(Data)
        /// A file, which the stack's thread reads while it sends it. Use a stream for a file system that may block.
        case file(path: String)
        /// Bytes that are produced while they are sent.
        case stream(Stream)

        /// The length in bytes, or `nil` if it is not known before the body is sent. A file's length is known once it is opened.
        public var length: Int64? {
            switch self {
            case .none: 0
            case .bytes(let data): Int64(data.count)
            case .file: nil
            case .stream(let stream): stream.length
            }
        }

        /// Whether the body can be sent again, for a redirect, a retry, or an answer to a challenge.
        public var isReplayable: Bool {
            if case .stream(let stream) = self { stream.isReplayable } else { true }
        }

        /// The fields that follow the body, if there are any.
        public var trailers: Trailers? {
            if case .stream(let stream) = self { stream.trailers } else { nil }
        }

        /// Whether the body is read in chunks.
        var isRead: Bool {
            switch self {
            case .none, .bytes: false
            case .file, .stream: true
            }
        }

        /// Whether the body is a file, whose length is known once it is opened.
        var isFile: Bool { if case .file = self { true } else { false } }

        package var isNone: Bool { if case .none = self { true } else { false } }

        /// Opens the body for one transfer, if it has to be read in chunks.
        ///
        /// - Parameter onReady: Called when a source that returned ``HTTPBodyChunk/pending`` has more.
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

        /// Why a body cannot be opened for a transfer.
        enum OpeningError: Error {
            case unreadable(FileError)
            /// It was opened before, and can be opened only once.
            case notReplayable
        }

        /// Bytes of an asynchronous sequence, which is read while they are sent.
        ///
        /// Up to 256 KiB are read ahead, plus the chunk that exceeds that. The sequence is cancelled if the transfer ends early.
        /// A stack without ``HTTP/Capability/streamedRequestBody`` reads it to its end before it sends anything.
        public struct Stream: Sendable {
            /// The declared length in bytes, if there is one. The stream must then yield exactly that many bytes, and end: the last byte is
            /// sent only when it has ended. A stream of length 0 is not read.
            public let length: Int64?
            /// Whether the stream can be opened more than once.
            public var isReplayable: Bool { claims.isEmpty }
            /// The fields that follow the body, if there are any. A part of a form cannot have trailers.
            public var trailers: Trailers?

            private let pump: @Sendable (StreamBodySource) async throws -> Void
            /// Whether it was opened, for each part that can be opened only once.
            let claims: [Lock<Bool>]

            /// Makes a body that can be sent once.
            ///
            /// - Parameters:
            ///   - chunks: Yields the bytes.
            ///   - length: The length in bytes, if known.
            public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil)
            where Chunks.Element == Data {
                self.init(chunks, length: length, sharing: Lock(false))
            }

            /// Makes a body that can be sent once. Of all streams that share a claim, only the one opened first can be sent.
            package init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64?, sharing claim: Lock<Bool>)
            where Chunks.Element == Data {
                self.length = length
                claims = [claim]
                pump = { source in for try await chunk in chunks { try await source.send(chunk) } }
            }

            /// Makes a body that can be sent any number of times.
            ///
            /// - Parameters:
            ///   - length: The length in bytes, if known.
            ///   - replaying: Makes the sequence anew for each time the body is sent.
            public init<Chunks: AsyncSequence & Sendable>(
                length: Int64? = nil,
                replaying: @escaping @Sendable () throws -> Chunks
            ) where Chunks.Element == Data {
                self.length = length
                claims = []
                pump = { source in for try await chunk in try replaying() { try await source.send(chunk) } }
            }

            /// Makes a body that a closure sends in chunks. It shares the claims of its parts.
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

            /// Sends the stream as a part of another body, which was opened with its claims.
            func send(to source: StreamBodySource) async throws {
                let before = source.total
                try await pump(source)
                let actual = source.total - before
                if let length, actual != length { throw BodyLengthError(declared: length, actual: actual) }
            }

            /// Marks the body as sent. Throws, and marks nothing, if any part of it was sent before and can be sent only once.
            private func claim() throws(OpeningError) {
                for (count, claim) in claims.enumerated() {
                    let isSecond = claim.withLock { exchange(&$0, with: true) }
                    guard isSecond else { continue }
                    for taken in claims.prefix(count) { taken.withLock { $0 = false } }
                    throw .notReplayable
                }
            }
        }
    }
}
