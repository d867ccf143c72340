import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension Result
where Success == Network.Value<Data, HTTP.Response>, Failure == HTTPFetchError<HTTP.Response, any Error> {
    /// The result, for a failure's message.
    var summary: String {
        switch self {
        case .success(let fetched): "success \(fetched.response.status) with \(fetched.value.count) bytes"
        case .failure(.http(let status, _, _)): "failure http(\(status))"
        case .failure(.noData(let status, _)): "failure noData(\(status))"
        case .failure(.badResponse): "failure badResponse"
        case .failure(.transport(let error, _)):
            "failure transport(\(Self.kind(of: error).map(\.rawValue) ?? "no kind"): \(error))"
        case .failure(.cancelled): "failure cancelled"
        case .failure(let error): "failure \(error)"
        }
    }

    /// The body of a success, as text.
    func text(file: StaticString = #fileID, line: UInt = #line) throws -> String {
        String(decoding: try value(file: file, line: line).value, as: UTF8.self)
    }

    /// The value of a success. In a check with `scaled`, a timeout before the response repeats the check with longer clocks.
    @discardableResult
    func value(file: StaticString = #fileID, line: UInt = #line) throws -> Success {
        switch self {
        case .success(let fetched): return fetched
        case .failure(let error):
            let failure = ConformanceFailure("Expected a success, saw \(summary)", file: file, line: line)
            throw error.isTimeoutBeforeResponse ? failure.tooEarly : failure
        }
    }

    /// Expects a cancelled fetch.
    func expectCancelled(file: StaticString = #fileID, line: UInt = #line) throws {
        guard case .failure(.cancelled) = self, case .failure(let error) = self, error.isCancelled else {
            throw ConformanceFailure("Expected cancelled, saw \(summary)", file: file, line: line)
        }
    }

    /// Expects a refusal and returns it.
    @discardableResult
    func refusal(file: StaticString = #fileID, line: UInt = #line) throws -> Failure {
        guard case .failure(let error) = self, error.isRefusal else {
            throw ConformanceFailure("Expected a refusal, saw \(summary)", file: file, line: line)
        }
        return error
    }

    /// Expects that a timeout ended the fetch in one of these phases. In a check with `scaled`, an earlier phase repeats the
    /// check with longer clocks.
    func expectTimeout(
        _ timeout: HTTP.Timeout,
        during phases: Set<HTTP.Phase>,
        file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        guard case .failure(.timedOut(let seen, let phase, _)) = self, case .failure(let error) = self else {
            throw ConformanceFailure("Expected the \(timeout) timeout, saw \(summary)", file: file, line: line)
        }
        try expectEqual(seen, timeout, "the timeout that fired", file: file, line: line)
        if !phases.contains(phase) {
            let message = "Expected the timeout in \(phases), saw it in \(phase)"
            let failure = ConformanceFailure(message, file: file, line: line)
            throw phase.isBefore(phases) ? failure.tooEarly : failure
        }
        try expect(error.isTimeout, "isTimeout is false for \(error)", file: file, line: line)
    }

    /// Expects that the transfer failed in one of these ways.
    func expectFailure(_ kinds: HTTP.FailureKind..., file: StaticString = #fileID, line: UInt = #line) throws {
        guard case .failure(.transport(let error, _)) = self, let kind = Self.kind(of: error), kinds.contains(kind)
        else {
            throw ConformanceFailure(
                "Expected a transport failure of kind \(kinds), saw \(summary)",
                file: file,
                line: line
            )
        }
    }

    /// Expects a response that is not HTTP.
    func expectBadResponse(file: StaticString = #fileID, line: UInt = #line) throws {
        guard case .failure(.badResponse) = self else {
            throw ConformanceFailure("Expected badResponse, saw \(summary)", file: file, line: line)
        }
    }

    /// Expects that a broken reply was detected: as a failed transfer, or as a response that is not HTTP.
    func expectBroken(file: StaticString = #fileID, line: UInt = #line) throws {
        switch self {
        case .failure(.badResponse), .failure(.transport): break
        default:
            throw ConformanceFailure("Expected a malformed response, saw \(summary)", file: file, line: line)
        }
    }

    private static func kind(of error: any Error) -> HTTP.FailureKind? { (error as? any HTTPTransportError)?.kind }
}

extension HTTP.Phase {
    /// Whether this phase comes before all of these.
    func isBefore(_ phases: Set<Self>) -> Bool { Self.allCases.prefix { !phases.contains($0) }.contains(self) }
}

extension HTTPFetchError {
    /// Whether a timeout ended the fetch before the head of its response came.
    var isTimeoutBeforeResponse: Bool {
        if case .timedOut(_, let phase, _) = self { phase.isBefore([.receiving]) } else { false }
    }

    /// Whether the library itself refused the fetch, as opposed to a failure of its maker, the server or the transfer, or a
    /// cancel.
    var isRefusal: Bool {
        switch self {
        case .noRequest, .http, .noData, .badResponse, .unknownCoding, .transport, .retry, .cancelled: false
        default: true
        }
    }
}

extension HTTP.Options {
    /// The default options with these timeouts.
    static func clocks(
        queue: Duration? = nil,
        connect: Duration? = nil,
        firstByte: Duration? = nil,
        idle: Duration = .seconds(60),
        total: Duration? = nil
    ) -> HTTP.Options {
        var options = HTTP.Options()
        options.timeouts = .init(queue: queue, connect: connect, firstByte: firstByte, idle: idle, total: total)
        return options
    }
}

extension ConnectionRecord {
    /// Whether the client ended the connection, in any way.
    var isEndedByPeer: Bool { state == .closedByPeer || state == .resetByPeer }
}

extension ScriptedServer {
    /// Waits for a record of the server; a failure has a sentence about what is missing.
    @discardableResult
    func sees(
        _ what: String,
        within limit: Duration = .seconds(10),
        file: StaticString = #fileID,
        line: UInt = #line,
        _ condition: (Snapshot) -> Bool
    ) async throws -> Snapshot {
        do { return try await waitUntil(within: Patience.limit(limit), condition) } catch let error as WaitTimedOut {
            throw ConformanceFailure("The server did not see \(what): \(error)", file: file, line: line)
        }
    }
}

/// Waits for a condition that no event announces.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(10),
    file: StaticString = #fileID,
    line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    let limit = Patience.limit(limit)
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw ConformanceFailure("This did not happen within \(limit): \(what)", file: file, line: line)
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
