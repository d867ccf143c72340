import FoundationEssentials
import NetworkStack

/// A stack for checks: every fetch has to end within a limit, with the result that the call names.
struct BoundedClient: Sendable {
    typealias Fetched = Network.Value<Data, HTTP.Response>
    typealias FetchError = HTTPFetchError<HTTP.Response, any Error>
    typealias Outcome = Result<Fetched, FetchError>
    typealias ErrorDecoding = Network.ErrorDecoding<Data, HTTP.Response>

    /// The stack.
    let stack: ConformanceSubject.Stack

    /// Fetches, and throws only if the fetch does not end.
    func outcome(
        of request: HTTP.Request,
        options: HTTP.Options? = nil,
        decoding: ErrorDecoding = .dummy,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Outcome {
        let resource = ConformanceSubject.Stack.Resource(
            baseRequestMaking: .request(request),
            errorDecoding: decoding,
            options: options?.replacing
        )
        return try await bounded(.seconds(30), file: file, line: line) {
            do throws(FetchError) { return .success(try await stack.fetch(resource: resource)) } catch {
                return .failure(error)
            }
        }
    }

    /// Fetches and expects a success.
    func success(
        _ request: HTTP.Request,
        options: HTTP.Options? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Fetched {
        switch try await outcome(of: request, options: options, file: file, line: line) {
        case .success(let fetched): return fetched
        case .failure(let error):
            throw ConformanceFailure("\(request.method) must succeed, failed with \(error)", file: file, line: line)
        }
    }

    /// Fetches a URL and expects a success.
    func get(
        _ url: String,
        headers: HTTP.Headers = [:],
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Fetched {
        try await success(HTTP.Request(url: url, headers: headers), file: file, line: line)
    }

    /// Fetches and expects a failure.
    func failure(
        _ request: HTTP.Request,
        options: HTTP.Options? = nil,
        decoding: ErrorDecoding = .dummy,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> FetchError {
        switch try await outcome(of: request, options: options, decoding: decoding, file: file, line: line) {
        case .success(let fetched):
            let seen = "status \(fetched.response.status) and \(fetched.value.count) bytes"
            throw ConformanceFailure("\(request.method) must fail, succeeded with \(seen)", file: file, line: line)
        case .failure(let error): return error
        }
    }

    /// Fetches and expects that the library refuses the request.
    func refusal(
        _ request: HTTP.Request,
        options: HTTP.Options? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> FetchError {
        let error = try await failure(request, options: options, file: file, line: line)
        guard error.isRefusal else {
            throw ConformanceFailure("\(request.method) must be refused, failed with \(error)", file: file, line: line)
        }
        return error
    }

    /// Fetches and expects an unsuccessful status.
    func unsuccessful(
        _ request: HTTP.Request,
        options: HTTP.Options? = nil,
        decoding: ErrorDecoding = .dummy,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> (status: HTTP.StatusCode, apiError: (any Error)?, response: HTTP.Response) {
        switch try await failure(request, options: options, decoding: decoding, file: file, line: line) {
        case .http(let status, let apiError, let response): return (status, apiError, response)
        case let error: throw ConformanceFailure("expected a status, failed with \(error)", file: file, line: line)
        }
    }

    /// Fetches and expects a failure of the transport, or a response that is not HTTP.
    func breakdown(
        _ request: HTTP.Request,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> (any Error)? {
        switch try await failure(request, file: file, line: line) {
        case .transport(let error, _): return error
        case .badResponse, .unknownCoding: return nil
        case let error:
            throw ConformanceFailure("expected a transport failure, failed with \(error)", file: file, line: line)
        }
    }
}

extension ConformanceSubject {
    /// Makes a client of a new stack, with a configuration that a closure changes.
    func client(_ configure: (inout Network.Configuration) throws -> Void = { _ in }) throws -> BoundedClient {
        BoundedClient(stack: try stack(configure))
    }
}

/// Compares bodies, and reports the first difference instead of the bodies.
func expectBytes(
    _ seen: some Sequence<UInt8>,
    _ expected: some Sequence<UInt8>,
    _ what: @autoclosure () -> String = "the content",
    file: StaticString = #fileID,
    line: UInt = #line
) throws {
    let (seen, expected) = (Data(seen), Data(expected))
    if seen == expected { return }
    let place = zip(seen, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let difference = place.map { "they differ at byte \($0)" } ?? "one is a prefix of the other"
    throw ConformanceFailure(
        "\(what()): expected \(expected.count) bytes, saw \(seen.count), \(difference)",
        file: file,
        line: line
    )
}

/// Bytes without a short period, so that a lost, doubled or swapped chunk is detected.
func patternBytes(_ count: Int) -> Data {
    let piece = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    var data = Data(capacity: count + piece.count)
    while data.count < count { data.append(piece) }
    return data.prefix(count)
}
