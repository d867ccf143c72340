public import Foundation
public import NetworkStack

/// The body of a response, byte by byte while it arrives, for code written for URLSession: it throws `URLError`.
public struct URLBytes<FetchError: ByteStreamFailure & HTTPError>: AsyncSequence, Sendable {
    /// A byte.
    public typealias Element = UInt8

    let bytes: ByteStream<FetchError>.Bytes

    /// Returns an iterator that continues where the body stands.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes.makeAsyncIterator()) }

    /// Reads byte by byte.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var bytes: ByteStream<FetchError>.Bytes.AsyncIterator

        /// The next byte.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: The byte, or `nil` when the body is whole.
        /// - Throws: `URLError`; `.cancelled` if the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(URLError) -> UInt8? {
            do { return try await bytes.next(isolation: actor) } catch { throw URLError(error) }
        }
    }
}
