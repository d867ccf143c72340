import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Options of a stack, a view, a resource and a call.
    static let callOptions: [ConformanceCheck] = [
        ConformanceCheck("No change of options makes a secret header follow a redirect") { subject in
            let other = try subject.serve { _ in .ok("x") }
            let first = try subject.serve { _ in .redirect(to: other.url("/end")) }
            let stack = try subject.stack { $0.sensitiveHeaders = ["X-Api-Key"] }
            let changes: [HTTP.Options.Change] = [
                { $0.timeouts.total = .seconds(20) }, { $0.redirects = .init() }, { $0 = .init() },
            ]
            for change in changes {
                _ = try await bounded {
                    let request = HTTP.RequestBuilder.get(first.url("/start")).header("X-Api-Key", "secret")
                    try await stack.send(request, options: change)
                    _ = try await stack.with(options: change).data(for: request)
                }
            }
            try expectEqual(first.requests().map { $0["x-api-key"] }, Array(repeating: "secret", count: 6), "the keys")
            try expectEqual(other.requests().map { $0["x-api-key"] }, Array(repeating: nil, count: 6), "the keys")
        },
        ConformanceCheck("A call adds a secret header for its own redirects") { subject in
            let other = try subject.serve { _ in .ok("x") }
            let first = try subject.serve { _ in .redirect(to: other.url("/end")) }
            let stack = try subject.stack()
            try await bounded {
                let request = HTTP.RequestBuilder.get(first.url("/start")).header("X-Own", "1")
                try await stack.send(request, options: { $0.addSensitiveHeaders("X-Own") })
                try await stack.send(request)
            }
            try expectEqual(other.requests().map { $0["x-own"] }, [nil, "1"], "the field")
        },
        ConformanceCheck("Options change in order: the stack's, the view's, the call's") { subject in
            let stack = try subject.stack {
                $0.options.timeouts.total = .seconds(7)
                $0.options.redirects.limit = 3
            }
            let view = stack.with { $0.timeouts.total = $0.timeouts.total.map { $0 * 2 } }
            try expectEqual(view.options.timeouts.total, .seconds(14), "the view's timeout")
            try expectEqual(view.options.redirects.limit, 3, "the limit that the view does not change")
            let seen = Lock<[Duration?]>([])
            let peer = try subject.serve { _ in .ok("x") }
            _ = try await bounded {
                try await view.send(
                    .get(peer.url("/")),
                    options: { options in seen.withLock { $0.append(options.timeouts.total) } }
                )
            }
            try expectEqual(seen.withLock { $0 }, [.seconds(14)], "the options before the call's change")
        },
        ConformanceCheck("A view with other options uses the stack's connections", needs: [.network]) { subject in
            let server = try ScriptedServer.responding { _ in .ok("x") }
            let stack = try subject.stack()
            try await bounded {
                try await stack.send(.get(server.url()))
                try await stack.with { $0.timeouts.total = .seconds(20) }.send(.get(server.url()))
            }
            try expectEqual(server.requests.map(\.connectionIndex), [0, 0], "the connections")
        },
        ConformanceCheck("A call's total timeout ends that call alone", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let stack = try subject.stack()
            let error = try await callFailure {
                _ = try await stack.get(server.url(), as: Int.self, options: { $0.timeouts.total = .milliseconds(200) })
            }
            guard case .timedOut(.total, _, _) = error else {
                throw ConformanceFailure("The call failed with \(error)")
            }
            try expectEqual(stack.options.timeouts.total, nil, "the stack's timeout")
        },
        ConformanceCheck("Invalid options fail a call before anything is sent") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let stack = try subject.stack()
            let error = try await callFailure {
                try await stack.send(.get(peer.url("/")), options: { $0.timeouts.total = .zero })
            }
            guard case .invalidRequest = error else { throw ConformanceFailure("The call failed with \(error)") }
            try expectEqual(peer.requests().count, 0, "the requests")
        },
        ConformanceCheck("A view's interceptors are called between the stack's and the resource's") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let stack = try subject.stack { $0.interceptors = [tag("stack")] }
            let view = stack.with(interceptors: [tag("view")]).with { $0.timeouts.total = .seconds(20) }
                .with(interceptors: [tag("outer")])
            let making = Network.BaseRequestMaking<HTTP.Request>.request(try HTTP.Request(url: peer.url("/")))
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: making,
                interceptors: [tag("resource")]
            )
            try await bounded {
                _ = try await view.fetch(resource: resource)
                _ = try await view.stream(resource: resource).value.collect()
                _ = try await stack.fetch(resource: resource)
            }
            let all = "stack, view, outer, resource"
            try expectEqual(peer.requests().map { $0["x-tags"] }, [all, all, "stack, resource"], "the interceptors")
        },
        ConformanceCheck("A view with a retry policy retries short calls") { subject in
            let replies = Lock<[Reply]>([.status(503), .json("1"), .status(503)])
            let peer = try subject.serve { _ in replies.withLock { $0.removeFirst() } }
            let stack = try subject.stack()
            let retrying = stack.with(interceptors: [HTTPRetryPolicy.maxRetries(1)])
            let value = try await bounded { try await retrying.get(peer.url("/view"), as: Int.self) }
            try expectEqual(value, 1, "the value")
            let error = try await callFailure { _ = try await stack.get(peer.url("/stack"), as: Int.self) }
            try expectEqual(error.statusCode, .serviceUnavailable, "the status without the view")
            try expectEqual(peer.requests().map(\.path), ["/view", "/view", "/stack"], "the requests")
        },
    ]

    /// An interceptor that appends a name to a field of the request.
    private static func tag(_ name: String) -> AsyncInterceptor {
        AsyncInterceptor { request, next in
            var request = request
            let before = request.headers["X-Tags"].map { "\($0), " } ?? ""
            request.headers["X-Tags"] = before + name
            return try await next(request)
        }
    }
}
