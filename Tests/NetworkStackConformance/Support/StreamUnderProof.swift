import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// A stream of any stack.
typealias ErasedStream = ByteStream<BoundedClient.FetchError>

/// A download of any stack.
typealias ErasedDownload = Download<BoundedClient.FetchError>

/// A stack that delivers streams, for checks.
struct StreamingClient: Sendable {
    typealias Stack = AnyHTTPNetworkStack<ErasedStream>

    let stack: Stack

    /// Opens the stream of a URL, within a limit.
    func open(
        _ url: String,
        interceptors: Stack.Resource.Interceptors = [],
        options: HTTP.Options? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Network.Value<ErasedStream, HTTP.Response> {
        switch try await outcome(of: url, interceptors: interceptors, options: options, file: file, line: line) {
        case .success(let opened): return opened
        case .failure(let error):
            let failure = ConformanceFailure("Expected the stream to open, saw \(error)", file: file, line: line)
            throw error.isTimeoutBeforeResponse ? failure.tooEarly : failure
        }
    }

    /// The result of opening the stream of a URL, within a limit.
    func outcome(
        of url: String,
        interceptors: Stack.Resource.Interceptors = [],
        decoding: BoundedClient.ErrorDecoding = .dummy,
        options: HTTP.Options? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Result<Network.Value<ErasedStream, HTTP.Response>, BoundedClient.FetchError> {
        let resource = Stack.Resource(
            baseRequestMaking: .request(try HTTP.Request(url: url)),
            errorDecoding: decoding,
            interceptors: interceptors,
            options: options?.replacing
        )
        return try await bounded(.seconds(30), file: file, line: line) {
            do throws(BoundedClient.FetchError) { return .success(try await stack.fetch(resource: resource)) } catch {
                return .failure(error)
            }
        }
    }
}

extension ConformanceSubject {
    /// Makes a client of a new streaming stack, with a configuration that a closure changes.
    func streaming(_ configure: (inout Network.Configuration) -> Void = { _ in }) throws -> StreamingClient {
        var configuration = Network.Configuration()
        configure(&configuration)
        return StreamingClient(stack: try makeStreaming(configuration))
    }
}

/// The stack's error in the failure of a stream.
func streamFailure(
    file: StaticString = #fileID,
    line: UInt = #line,
    _ body: @escaping @Sendable () async throws -> Void
) async throws -> any Error {
    try await bounded(.seconds(30), file: file, line: line) {
        do { try await body() } catch let failed as BoundedClient.FetchError { return failed }
        throw ConformanceFailure("The stream did not fail", file: file, line: line)
    }
}

extension ErasedStream.AsyncIterator {
    /// Reads until this many characters have arrived, or to the end, and returns them as text.
    ///
    /// It is a separate function, because a loop `while text.count < 5, let chunk = try await chunks.next()` crashes Swift 6.3.1
    /// with -O ("While splitting coroutine", signal 11) if later code in the same function throws and awaits again:
    ///
    ///     struct Failed: Error { let underlying: any Error }
    ///     struct Chunks { mutating func next() async throws(Failed) -> String? { /* calls what throws any error */ } }
    ///     func read(_ chunks: inout Chunks) async throws -> String {
    ///         var text = ""
    ///         while text.count < 5, let chunk = try await chunks.next() { text += chunk }
    ///         try check(text)
    ///         while let chunk = try await chunks.next() { text += chunk }
    ///         return text
    ///     }
    mutating func text(ofAtLeast count: Int = .max) async throws -> String {
        var bytes = Data()
        while let chunk = try await next() {
            bytes += chunk
            if bytes.count >= count { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
