import FoundationEssentials
import NetworkStack
import NetworkStackTesting

private typealias NeutralError = HTTPFetchError<HTTP.Response, any Error>

extension ConformanceCheck {
    /// Errors that an interceptor throws, which may be those of another fetch.
    static let httpInterceptorsErrors: [ConformanceCheck] = [
        ConformanceCheck("Another fetch's error does not send an answered POST again") { subject in
            for foreign in [
                NeutralError.timedOut(.connect, during: .connecting), .cancelled,
                .untrusted(.domainNotPinned(host: "a")),
            ] {
                let peer = try subject.serve { _ in .ok("x") }
                let outcome = try await post(to: peer.url("/"), on: subject) { request, next in
                    _ = try await next(request)
                    throw foreign
                }
                guard case .failure(.interceptor(let error, let context)) = outcome else {
                    throw ConformanceFailure("Expected interceptor, saw \(outcome.summary)")
                }
                try expectEqual((error as? NeutralError)?.caseName, foreign.caseName, "the error")
                try expect(context.url != nil && context.metrics.total > .zero, "The context is \(context)")
                try expectEqual(peer.requests().count, 1, "requests on the wire after \(foreign.caseName)")
            }
        },
        ConformanceCheck("Another fetch's error does not send a POST that failed again", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveRequest, .send("no HTTP at all\r\n\r\n"), .close] }
            _ = try await post(to: server.url("/"), on: subject) { request, next in
                do { return try await next(request) } catch {
                    throw NeutralError.timedOut(.connect, during: .connecting)
                }
            }
            try expectEqual(server.requests.count, 1, "requests on the wire")
        },
        ConformanceCheck("Another fetch's error does not send a POST that was cancelled again", needs: [.network]) {
            subject in
            let (attempts, server) = (Lock(0), try ScriptedServer { _ in [.receiveRequest, .waitForClose] })
            _ = try await post(to: server.url("/"), on: subject) { request, next in
                let attempt = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                let sending = Task { try await next(request) }
                try await eventually("the server has the request") { server.requests.count == attempt }
                sending.cancel()
                _ = await sending.result
                throw NeutralError.timedOut(.connect, during: .connecting)
            }
            try expectEqual(server.requests.count, 1, "requests on the wire")
        },
        ConformanceCheck("The failure of next that an interceptor throws on is the fetch's") { subject in
            let closed = try ClosedPort.reserve()
            let outcome = try await post(to: "http://127.0.0.1:\(closed.port)/", on: subject, retries: false) {
                try await $1($0)
            }
            guard case .failure(.transport(_, let context)) = outcome else {
                throw ConformanceFailure("Expected transport, saw \(outcome.summary)")
            }
            try expect(context.url != nil, "The context has no URL")
        },
    ]

    /// Posts with an interceptor, and with a policy that repeats what is safe to repeat.
    private static func post(
        to url: String,
        on subject: ConformanceSubject,
        retries: Bool = true,
        _ intercept: @escaping @Sendable (HTTP.Request, HTTP.Next) async throws -> HTTP.Reply
    ) async throws -> Outcome {
        let resource = try ConformanceSubject.Stack.Resource.intercepted(
            url,
            method: .POST,
            body: .bytes(Data("1".utf8)),
            by: [AsyncInterceptor(intercept)] + (retries ? [HTTPRetryPolicy.maxRetries(1).whenSafe()] : [])
        )
        return try await subject.stack().observe(resource).onlyOutcome()
    }
}
