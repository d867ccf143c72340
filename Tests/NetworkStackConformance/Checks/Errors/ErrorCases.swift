import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// The cases of errors and their properties, and responses with an empty body.
    static let errorCases: [ConformanceCheck] = [
        errorCase("noRequest") { _ in
            (.made { $0(.failure(CancellationError())) }, { if case .noRequest = $0 { true } else { false } }, nil)
        },
        errorCase("http", status: 404) { peer in
            (try .get(peer.url("/404")), { if case .http(404, nil, _) = $0 { true } else { false } }, 404)
        },
        errorCase("noData", status: 200) { peer in
            (try .get(peer.url("/empty")), { if case .noData(200, _) = $0 { true } else { false } }, 200)
        },
        errorCase("refused") { peer in
            (try .get(peer.url("/loop")), { if case .tooManyRedirects(20, _) = $0 { true } else { false } }, nil)
        },
        errorCase("retry", status: 404) { peer in
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/404"),
                by: [HTTPRetryPolicy.maxRetries(0)]
            )
            return (resource, { if case .retry(.retries(0), _) = $0 { true } else { false } }, 404)
        },
        ConformanceCheck("An error reports the last URL without secrets, hops and attempt") { subject in
            let peer = try subject.serve {
                $0.path == "/a" ? .redirect(to: "/b?key=s3cret") : .redirect(to: "ftp://a.test/")
            }
            for attempts in 1...2 {
                let resource = try ConformanceSubject.Stack.Resource.intercepted(
                    peer.url("/a?key=s3cret"),
                    by: attempts == 1 ? [] : [HTTPRetryPolicy.maxRetries(attempts - 1)]
                )
                let outcome = try await subject.stack().observe(resource).onlyOutcome()
                guard case .failure(let error) = outcome, let context = error.context else {
                    throw ConformanceFailure("Expected an error with a context, saw \(outcome.summary)")
                }
                try expectEqual(context.url, "\(peer.url("/b"))?\u{2026}", "the URL")
                try expectEqual(context.metrics.hopCount, 2, "the hops")
                try expectEqual(context.attempt, attempts, "the attempt")
                try expect(context.metrics.total > .zero, "the time is \(context.metrics.total)")
            }
        },
        ConformanceCheck("The error transport reports the failure and no status", needs: [.network]) { subject in
            let closed = try ClosedPort.reserve()
            let outcome = try await subject.stack().observe("http://127.0.0.1:\(closed.port)/").onlyOutcome()
            guard case .failure(let error) = outcome, case .transport = error else {
                throw ConformanceFailure("Expected transport, saw \(outcome.summary)")
            }
            try expectEqual(error.transportFailure, .connect, "the kind")
            try expect(error.isRetryable, "isRetryable is false for a refused connection")
            try expect(error.statusCode == nil && error.response == nil && !error.isTimeout, "\(error.summary)")
            try expectEqual(error.context?.url, "http://127.0.0.1:\(closed.port)/", "the URL")
            try expect(error.isTransient && !error.isCancelled && error.body == nil, "\(error.summary)")
        },
        ConformanceCheck(
            "A 204 or 205 decodes to nothing or nil, never a model"
        ) {
            subject in
            struct Model: Codable, Sendable {}
            let peer = try subject.serve { .status($0.path == "/204" ? 204 : 205, $0.path == "/content" ? "{}" : "") }
            let stack = try subject.stack()
            let whole = try await stack.observe(peer.url("/content")).onlyOutcome()
            try expectEqual(try whole.text(), "{}", "the decoded values of a 205 with a body")
            for path in ["/204", "/205", "/content"] {
                let resource = try ConformanceSubject.Stack.Resource.get(peer.url(path))
                let optional = try await bounded {
                    try await stack.fetchAndDecode(resource: resource, decoding: .json(Model?.self)).value == nil
                }
                try expect(optional, "The optional value of \(path) is not nil")
                try await bounded { _ = try await stack.fetchAndDecode(resource: resource, decoding: .none) }
                do {
                    _ = try await bounded {
                        try await stack.fetchAndDecode(resource: resource, decoding: .json(Model.self))
                    }
                    throw ConformanceFailure("\(path) was decoded")
                } catch FetchAndDecodeError<ConformanceSubject.Stack.FetchError>.decode(let error) {
                    try expect(
                        error is EmptyBodyError && "\(error)".contains("no body"),
                        "The reason is \(error)"
                    )
                }
            }
        },
    ]

    private typealias Case = (
        resource: ConformanceSubject.Stack.Resource,
        isExpected: (ConformanceSubject.Stack.FetchError) -> Bool,
        status: HTTP.StatusCode?
    )

    private static func errorCase(
        _ name: String,
        status: HTTP.StatusCode? = nil,
        _ make: @escaping @Sendable (ConformancePeer) throws -> Case
    ) -> ConformanceCheck {
        ConformanceCheck("The error \(name) reports its status, its response and the last error") { subject in
            let peer = try subject.serve {
                switch $0.path {
                case "/404": .status(404, "no")
                case "/loop": .redirect(to: "/loop")
                default: .ok()
                }
            }
            let (resource, isExpected, status) = try make(peer)
            let outcome = try await subject.stack().observe(resource).onlyOutcome()
            guard case .failure(let error) = outcome, isExpected(error) else {
                throw ConformanceFailure("Expected \(name), saw \(outcome.summary)")
            }
            try expectEqual(error.statusCode, status, "the status")
            try expectEqual(error.response?.status, status, "the response's status")
            try expectEqual(error.httpResponse?.status, status, "the neutral response's status")
            try expectEqual(error.body, status == 404 ? Data("no".utf8) : nil, "the body")
            try expect(!error.isTimeout && !error.isRetryable, "isTimeout or isRetryable is true for \(error.summary)")
            guard case .retry(_, let state) = error else {
                return try expect(error.lastError is ConformanceSubject.Stack.FetchError, "\(error.lastError)")
            }
            try expectEqual(state.errors.count, 1, "errors in the state")
            guard case .http(404, _, _)? = error.lastError as? ConformanceSubject.Stack.FetchError else {
                throw ConformanceFailure("The last error is \(error.lastError)")
            }
        }
    }
}
