/// Something to be measured: a client that carries out the settings' request, one fetch per call.
///
/// A program hands its conformer to ``ClientProgram/run(_:)`` and needs nothing else; load, clocks, counters and the
/// report's line are the program's business.
public protocol BenchmarkClient: Sendable {
    /// Sets the client up, with a request made ready for each target.
    ///
    /// - Parameter settings: What is measured.
    /// - Throws: Whatever keeps the client from working; the run is no result then.
    init(_ settings: ClientSettings) async throws

    /// Makes one fetch and reads the whole response.
    ///
    /// - Parameter target: Which of the settings' two requests is made.
    /// - Returns: The length of the response's content in bytes, or the number of items if it was decoded.
    /// - Throws: An error for anything but a whole response with a 2xx status.
    func fetch(_ target: BenchmarkTarget) async throws -> Int

    /// Lets go of everything.
    func shutDown() async
}

/// A client that calls back. Its fetches are started one from the other's completion, without a task.
public protocol CallbackBenchmarkClient: BenchmarkClient {
    /// Makes one fetch and calls back.
    ///
    /// - Parameters:
    ///   - target: Which of the settings' two requests is made.
    ///   - completion: Takes what ``BenchmarkClient/fetch(_:)`` would return or throw.
    func fetch(_ target: BenchmarkTarget, completion: @escaping @Sendable (Result<Int, any Error>) -> Void)
}

/// Which request is made.
public enum BenchmarkTarget: Sendable {
    /// The one that is measured.
    case measured
    /// One whose response stays open until it is given up.
    case held
}

/// A response that does not count.
public struct UnexpectedResponse: Error, CustomStringConvertible {
    /// What was wrong with it.
    public let description: String

    /// Says what was wrong with a response.
    ///
    /// - Parameter description: What was wrong, as a sentence.
    public init(_ description: String) { self.description = description }
}
