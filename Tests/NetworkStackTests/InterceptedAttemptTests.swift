import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("The events of an attempt")
struct InterceptedAttemptTests {
    private struct Failure: Error {}

    /// Records the request of every failure.
    private final class Listener: HTTPResourceInterceptor {
        typealias Request = HTTP.Request
        typealias Response = HTTP.Response
        let requests = Lock<[String?]>([])
        let interceptsBody = false

        func interceptFailedTask(
            withIdentifier identifier: Int,
            request: HTTP.Request?,
            data: Data?,
            response: HTTP.Response?,
            error: any Error,
            retryState: Retry.State
        ) -> Retry.Action {
            requests.withLock { $0.append(request?.url.absoluteString) }
            return .none
        }
    }

    @Test("the end of a truncated attempt is reported without the previous request")
    func cutShort() throws {
        let listener = Listener()
        let intercepted = InterceptedAttempt(
            InterceptorChain(interceptors: [listener], priority: { first, _ in first })
        )
        let first = Attempt(identifier: 1, retryState: .init())
        let second = Attempt(identifier: 2, retryState: .init(errors: [Failure()]))
        let request = try HTTP.Request(url: "http://a.test/")
        intercepted.begin(first)
        _ = intercepted.runRequestInterceptors(.success(request), of: first) { _ in EmptyCancelable() }
        intercepted.reportScheduled(first)
        // The retry is decided, and cancelled before it has begun.
        _ = intercepted.vote(second, data: nil, response: nil, on: Failure())
        #expect(listener.requests.withLock { $0 } == [nil])
        _ = intercepted.vote(first, data: nil, response: nil, on: Failure())
        #expect(listener.requests.withLock { $0 } == [nil, "http://a.test/"])
    }

    @Test("once the fetch has ended, no request is made for a further attempt")
    func late() throws {
        let intercepted = InterceptedAttempt<HTTP.Request, HTTP.Response>(
            InterceptorChain(interceptors: [], priority: { first, _ in first })
        )
        let second = Attempt(identifier: 2, retryState: .init(errors: [Failure()]))
        let request = try HTTP.Request(url: "http://a.test/")
        intercepted.begin(Attempt(identifier: 1, retryState: .init()))
        intercepted.end()
        intercepted.begin(second)
        _ = intercepted.runRequestInterceptors(.success(request), of: second) { _ in
            Issue.record("A request was made")
            return EmptyCancelable()
        }
    }

    @Test("once an attempt has failed, no interceptor gets its request")
    func lateAfterFailure() throws {
        let passed = Lock(0)
        let intercepted = InterceptedAttempt<HTTP.Request, HTTP.Response>(
            InterceptorChain(interceptors: [CountingInterceptor(passed)], priority: { first, _ in first })
        )
        let attempt = Attempt(identifier: 1, retryState: .init())
        let request = try HTTP.Request(url: "http://a.test/")
        intercepted.begin(attempt)
        intercepted.keep(failure: 0, nil)
        _ = intercepted.runRequestInterceptors(.success(request), of: attempt) { _ in EmptyCancelable() }
        #expect(passed.withLock { $0 } == 0)
    }

    /// Counts its requests.
    private final class CountingInterceptor: HTTPResourceInterceptor {
        typealias Request = HTTP.Request
        typealias Response = HTTP.Response
        let count: Lock<Int>

        init(_ count: Lock<Int>) { self.count = count }

        func interceptMakeRequestResult(
            _ result: Result<HTTP.Request, any Error>,
            handler: @escaping RequestHandler
        ) -> any Cancelable {
            count.withLock { $0 += 1 }
            return handler(result)
        }
    }

    /// Reads what is kept when it is released.
    private final class Asking: Sendable {
        let intercepted: InterceptedAttempt<HTTP.Request, HTTP.Response>
        let isGone: Lock<Bool>

        init(_ intercepted: InterceptedAttempt<HTTP.Request, HTTP.Response>, _ isGone: Lock<Bool>) {
            (self.intercepted, self.isGone) = (intercepted, isGone)
        }

        deinit {
            _ = intercepted.outcome
            isGone.withLock { $0 = true }
        }
    }

    @Test("what a request retained is released outside of locks", .timeLimit(.minutes(1)))
    func lettingGo() throws {
        for isLast in [false, true] {
            let (intercepted, isGone) = (
                InterceptedAttempt<HTTP.Request, HTTP.Response>(
                    InterceptorChain(interceptors: [], priority: { first, _ in first })
                ), Lock(false)
            )
            let first = Attempt(identifier: 1, retryState: .init())
            intercepted.begin(first)
            do {
                let asking = Asking(intercepted, isGone)
                let body = HTTP.Body.stream(
                    .init {
                        _ = asking.isGone
                        return AsyncStream<Data> { $0.finish() }
                    }
                )
                let request = try HTTP.Request(method: .POST, url: "http://a.test/", body: body)
                _ = intercepted.runRequestInterceptors(.success(request), of: first) { _ in EmptyCancelable() }
            }
            #expect(!isGone.withLock { $0 })
            if isLast {
                _ = intercepted.take()
            } else {
                intercepted.begin(Attempt(identifier: 2, retryState: .init(errors: [Failure()])))
            }
            #expect(isGone.withLock { $0 })
        }
    }
}
