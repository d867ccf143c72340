import NetworkStack
import NetworkStackTesting

extension HTTP.Options {
    /// A change that replaces the stack's options, except the names of sensitive headers.
    var replacing: Change { { [self] options in options = self } }

    /// The default options with header fields that are sensitive.
    static func keepingBack(_ names: HTTP.HeaderName) -> HTTP.Options {
        var options = HTTP.Options()
        options.addSensitiveHeaders(names)
        return options
    }
}

extension HTTPResource<HTTP.Request, HTTP.Response> {
    /// A GET of a URL.
    static func get(_ url: String, options: HTTP.Options? = nil) throws -> Self {
        Self(baseRequestMaking: .request(try HTTP.Request(url: url)), options: options?.replacing)
    }

    /// A resource whose request a closure makes.
    static func made(
        options: HTTP.Options? = nil,
        by interceptors: Interceptors = [],
        _ make: @escaping @Sendable (@escaping Network.BaseRequestMaking<HTTP.Request>.Handler) -> any Cancelable
    ) -> Self {
        Self(baseRequestMaking: .init(make: make), interceptors: interceptors, options: options?.replacing)
    }
}

/// Counts its cancels.
final class CountingCancelable: Cancelable {
    private let counter = Lock(0)

    var count: Int { counter.withLock { $0 } }

    func cancel() { counter.withLock { $0 += 1 } }
}

/// A maker of requests that returns them when a check calls ``handOver(_:)``.
final class PatientMaker: Sendable {
    private let handlers = Lock<[Network.BaseRequestMaking<HTTP.Request>.Handler]>([])
    /// The value that the maker returned.
    let cancelable = CountingCancelable()

    /// A resource whose requests are made here.
    func resource(options: HTTP.Options? = nil) -> ConformanceSubject.Stack.Resource {
        .made(options: options) { [self] handler in
            handlers.withLock { $0.append(handler) }
            return cancelable
        }
    }

    /// The number of calls of the maker.
    var count: Int { handlers.withLock { $0.count } }

    /// Passes a request to all handlers.
    func handOver(_ request: HTTP.Request) {
        for handler in handlers.withLock({ $0 }) { _ = handler(.success(request)) }
    }
}

/// Runs an asynchronous operation with a limit: after it, the task is cancelled and the check fails.
func bounded<Value: Sendable>(
    _ limit: Duration = .seconds(15),
    file: StaticString = #fileID,
    line: UInt = #line,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let limit = Patience.limit(limit)
    let (result, done) = (Lock<Result<Value, any Error>?>(nil), Gate())
    let task = Task {
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
        result.withLock { $0 = outcome }
        done.open()
    }
    do { try await done.opened(within: limit) } catch is WaitTimedOut {
        task.cancel()
        throw ConformanceFailure("The operation did not end within \(limit)", file: file, line: line)
    }
    guard let outcome = result.withLock({ $0 }) else {
        throw ConformanceFailure("The operation ended without a result")
    }
    return try outcome.get()
}
