import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// HTTPInterceptors.
    static let httpInterceptors: [ConformanceCheck] = [
        ConformanceCheck("An HTTPInterceptor changes the request, the status, fields and body") { subject in
            let peer = try subject.serve { .ok($0["x-made"] ?? "", headers: [("X-Kept", "1")]) }
            let interceptor = AsyncInterceptor { request, next in
                var request = request
                request.headers["X-Made"] = "made"
                var reply = try await next(request)
                reply.response.status = .created
                reply.response.headers["X-Added"] = "2"
                reply.body = .init(try await reply.body.collect() + Data(" changed".utf8))
                return reply
            }
            let stack = try subject.stack { $0.interceptors = [interceptor] }
            let fetched = try await stack.observe(peer.url("/")).onlyOutcome().value()
            try expectEqual(String(decoding: fetched.value, as: UTF8.self), "made changed", "the body")
            try expectEqual(fetched.response.status, .created, "the status")
            try expectEqual(fetched.response.headers["X-Kept"], "1", "a field of the server")
            try expectEqual(fetched.response.headers["X-Added"], "2", "a field of the interceptor")
            try expectEqual(fetched.response.request?.headers["X-Made"], "made", "the request that was answered")
            try expect(fetched.response.metrics.total > .zero, "The response lost its metrics")
        },
        ConformanceCheck("An HTTPInterceptor answers without the network, and its attempt is reported") { subject in
            let (log, peer) = (EventLog(), try subject.serve { _ in .ok("from the server") })
            let interceptor = AsyncInterceptor { request, _ in
                HTTP.Reply(.init(status: .accepted, url: request.url), body: Data("local".utf8))
            }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/here"),
                by: [Spy("spy", log), interceptor]
            )
            let fetched = try await subject.stack().observe(resource).onlyOutcome().value()
            try expectEqual(String(decoding: fetched.value, as: UTF8.self), "local", "the body")
            try expectEqual(fetched.response.status, .accepted, "the status")
            try expectEqual(fetched.response.request?.url.path, "/here", "the request that was answered")
            try expectEqual(peer.requests().count, 0, "requests on the wire")
            let events = ["makes a request", "schedules attempt 1", "takes local", "succeeds with local"]
            try expectEqual(log.all, events.map { "spy \($0)" }, "the events")
        },
        ConformanceCheck("HTTPInterceptors nest in order, around what other interceptors see") { subject in
            let (log, peer) = (EventLog(), try subject.serve { .ok($0["x-path"] ?? "") })
            let seen = EventLog()
            func adding(_ name: String) -> AsyncInterceptor {
                AsyncInterceptor { request, next in
                    seen.add("\(name) begins")
                    var request = request
                    request.headers["X-Path"] = (request.headers["X-Path"] ?? "") + name
                    var reply = try await next(request)
                    seen.add("\(name) ends")
                    reply.body = .init(try await reply.body.collect() + Data(name.utf8))
                    return reply
                }
            }
            let spy = Spy("spy", log).with {
                $0.scheduled = { seen.add("scheduled with \($0.request?.headers["X-Path"] ?? "nothing")") }
            }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/"),
                by: [spy, adding("b"), adding("c")]
            )
            let stack = try subject.stack { $0.interceptors = [adding("a")] }
            try expectEqual(try await stack.observe(resource).onlyOutcome().text(), "abccba", "the body")
            try expectEqual(
                seen.all,
                ["a begins", "b begins", "c begins", "scheduled with abc", "c ends", "b ends", "a ends"],
                "the order"
            )
            try expectEqual(log.all.suffix(2), ["spy takes abccba", "spy succeeds with abccba"], "the end")
        },
        ConformanceCheck("A request that next sends to another origin takes no credentials along") { subject in
            let (home, away) = (try subject.serve { _ in .ok("x") }, try subject.serve { _ in .ok("x") })
            let homeURL = try HTTP.Request(url: home.url("/")).url
            let awayURL = try HTTP.Request(url: away.url("/")).url
            let target = Lock(awayURL)
            let moving = AsyncInterceptor { request, next in
                var request = request
                request.url = target.withLock { $0 }
                request.headers["X-Own"] = "set"
                return try await next(request)
            }
            let stack = try subject.stack {
                $0.sensitiveHeaders = ["X-Own", "X-Secret"]
                $0.interceptors = [try BearerAuthenticator(token: "t", origins: [HTTP.Origin(of: homeURL)]), moving]
            }
            let headers: HTTP.Headers = ["X-Secret": "s", "X-Own": "before", "X-Plain": "p", .cookie: "a=1"]
            let names = ["authorization", "cookie", "x-secret", "x-own", "x-plain"]
            _ = try await stack.observe(home.url("/"), headers: headers).onlyOutcome().value()
            let sent = away.requests().map { request in names.map { request[$0] } }
            try expectEqual(sent, [[nil, nil, nil, "set", "p"]], "the fields at another origin")
            target.withLock { $0 = homeURL.appending(path: "other") }
            _ = try await stack.observe(home.url("/"), headers: headers).onlyOutcome().value()
            let kept = home.requests().map { request in names.map { request[$0] } }
            try expectEqual(kept, [["Bearer t", "a=1", "s", "set", "p"]], "the fields at the same origin")
        },
        ConformanceCheck("User info of a URL does not follow next to another origin") { subject in
            let (home, away) = (try subject.serve { _ in .ok("x") }, try subject.serve { _ in .ok("x") })
            let awayURL = try HTTP.Request(url: away.url("/")).url
            let user = Lock("user")
            let moving = AsyncInterceptor { request, next in
                var (request, components) = (request, URLComponents(url: awayURL, resolvingAgainstBaseURL: true))
                components?.user = user.withLock { $0 }
                components?.password = "secret"
                request.url = components?.url ?? request.url
                return try await next(request)
            }
            let stack = try subject.stack { $0.interceptors = [moving] }
            let url = home.url("/").replacing("://", with: "://user:secret@")
            _ = try await stack.observe(url).onlyOutcome().value()
            user.withLock { $0 = "own" }
            _ = try await stack.observe(url).onlyOutcome().value()
            let own = "Basic " + Data("own:secret".utf8).base64EncodedString()
            try expectEqual(away.requests().map { $0["authorization"] }, [nil, own], "the credentials elsewhere")
        },
        ConformanceCheck("The configuration's credentials do not follow next to another origin") { subject in
            let (home, away) = (try subject.serve { _ in .ok("x") }, try subject.serve { _ in .ok("x") })
            let awayURL = try HTTP.Request(url: away.url("/")).url
            let moving = AsyncInterceptor { request, next in
                var request = request
                request.url = awayURL
                request.headers.append("b=2", for: .cookie)
                return try await next(request)
            }
            let stack = try subject.stack {
                $0.headers = [.authorization: "Bearer service", "X-Secret": "s", "X-Plain": "p"]
                $0.sensitiveHeaders = ["X-Secret"]
                $0.interceptors = [moving]
            }
            let headers: HTTP.Headers = [.authorization: "Bearer user", .cookie: "a=1"]
            _ = try await stack.observe(home.url("/"), headers: headers).onlyOutcome().value()
            let sent = away.requests().map { request in
                ["authorization", "cookie", "x-secret", "x-plain"].map { request[$0] }
            }
            try expectEqual(sent, [[nil, "b=2", nil, "p"]], "the fields at another origin")
        },
        ConformanceCheck("Next returns any status; what it becomes is judged after") { subject in
            let peer = try subject.serve { $0.path == "/bad" ? .status(503, "no") : .ok("yes") }
            let seen = EventLog()
            let swapping = AsyncInterceptor { request, next in
                var reply = try await next(request)
                seen.add("\(reply.response.status.rawValue)")
                reply.response.status = reply.response.status == .ok ? .notFound : .ok
                return reply
            }
            let stack = try subject.stack { $0.interceptors = [swapping] }
            try expectEqual(try await stack.observe(peer.url("/bad")).onlyOutcome().text(), "no", "the body")
            let failed = try await stack.observe(peer.url("/good")).onlyOutcome()
            guard case .failure(.http(404, _, let response)) = failed, case .failure(let error) = failed else {
                throw ConformanceFailure("Expected http(404), saw \(failed.summary)")
            }
            try expectEqual(response.status, .notFound, "the status")
            try expectEqual(error.body, Data("yes".utf8), "the body of the failure")
            try expectEqual(seen.all, ["503", "200"], "the statuses that the interceptor received")
        },
        ConformanceCheck("Next throws a network failure, which may become a response", needs: [.network]) {
            subject in
            let server = try ScriptedServer { _ in [.receiveHead, .close] }
            let seen = Lock<(any Error)?>(nil)
            let falling = AsyncInterceptor { request, next in
                do { return try await next(request) } catch {
                    seen.withLock { $0 = error }
                    guard request.url.path == "/falls" else { throw error }
                    return HTTP.Reply(.init(status: .ok, url: request.url), body: Data("kept".utf8))
                }
            }
            let stack = try subject.stack { $0.interceptors = [falling] }
            try expectEqual(try await stack.observe(server.url("/falls")).onlyOutcome().text(), "kept", "the body")
            let failed = try await stack.observe(server.url("/fails")).onlyOutcome()
            guard case .failure(let error) = failed else {
                throw ConformanceFailure("Expected a failure, saw \(failed.summary)")
            }
            try expect(error.transportFailure != nil, "Expected the original failure, saw \(error)")
            try expect(error.context?.url?.hasSuffix("/fails") == true, "The error lost its context: \(error)")
            try expect((seen.withLock { $0 } as? any HTTPError)?.transportFailure != nil, "the error of next")
        },
        ConformanceCheck("A second call of next throws, and sends nothing") { subject in
            let peer = try subject.serve { _ in .ok("once") }
            let seen = EventLog()
            let twice = AsyncInterceptor { request, next in
                let reply = try await next(request)
                do { _ = try await next(request) } catch is HTTP.NextCalledAgain { seen.add("refused") }
                return reply
            }
            let stack = try subject.stack { $0.interceptors = [twice] }
            try expectEqual(try await stack.observe(peer.url("/")).onlyOutcome().text(), "once", "the body")
            try expectEqual(seen.all, ["refused"], "the second call")
            try expectEqual(peer.requests().count, 1, "requests on the wire")
        },
        ConformanceCheck("Next throws once its interceptor has returned") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let kept = Lock<HTTP.Next?>(nil)
            let keeping = AsyncInterceptor { request, next in
                kept.withLock { $0 = next }
                return HTTP.Reply(.init(status: .ok, url: request.url), body: Data("local".utf8))
            }
            let stack = try subject.stack { $0.interceptors = [keeping] }
            try await stack.observe(peer.url("/")).onlyOutcome().value()
            let (next, request) = (kept.withLock { $0.take() }, try HTTP.Request(url: peer.url("/")))
            do {
                _ = try await bounded(.seconds(10)) { try await next?(request) }
                throw ConformanceFailure("next returned a response")
            } catch let error as any HTTPError {
                try expect(error.isCancelled, "Expected cancelled, saw \(error)")
            }
            try expectEqual(peer.requests().count, 0, "requests on the wire")
        },
        ConformanceCheck("An HTTPInterceptor runs again in a retry, not for a redirect") { subject in
            let count = Lock(0)
            let peer = try subject.serve { request in
                if request.path == "/from" { return .status(302, headers: [("Location", "/to")]) }
                return count.withLock { count in
                    count += 1
                    return count == 1 ? .status(503) : .ok("after \(request["x-run"] ?? "")")
                }
            }
            let runs = Lock(0)
            let counting = AsyncInterceptor { request, next in
                runs.withLock { $0 += 1 }
                var request = request
                request.headers["X-Run"] = "\(runs.withLock { $0 })"
                return try await next(request)
            }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/from"),
                by: [counting, HTTPRetryPolicy.maxRetries(1)]
            )
            let fetched = try await subject.stack().observe(resource).onlyOutcome().value()
            try expectEqual(String(decoding: fetched.value, as: UTF8.self), "after 2", "the body")
            try expectEqual(fetched.response.redirects.count, 1, "the redirects")
            try expectEqual(fetched.response.metrics.hops.count, 3, "the hops before")
            try expectEqual(peer.requests().map(\.path), ["/from", "/to", "/from", "/to"], "requests on the wire")
        },
        ConformanceCheck("An error before next is noRequest; one after it is interceptor") { subject in
            struct Unfit: Error {}
            let (log, peer) = (EventLog(), try subject.serve { _ in .ok("x") })
            let before = AsyncInterceptor { _, _ in throw Unfit() }
            let after = AsyncInterceptor { request, next in
                _ = try await next(request)
                throw Unfit()
            }
            func outcome(_ interceptor: AsyncInterceptor) async throws -> Outcome {
                try await subject.stack()
                    .observe(.intercepted(peer.url("/"), by: [interceptor, Spy("spy", log)])).onlyOutcome()
            }
            guard case .failure(.noRequest(_ as Unfit)) = try await outcome(before) else {
                throw ConformanceFailure("Expected noRequest")
            }
            try expectEqual(peer.requests().count, 0, "requests on the wire")
            guard case .failure(.interceptor(_ as Unfit, _)) = try await outcome(after) else {
                throw ConformanceFailure("Expected interceptor")
            }
            try expectEqual(
                log.all.filter { $0.contains("fails") },
                ["spy fails attempt 1 without a request", "spy fails attempt 1"],
                "the votes"
            )
        },
        ConformanceCheck("A body that an HTTPInterceptor returns has the fetch's limit") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let growing = AsyncInterceptor { request, next in
                var reply = try await next(request)
                reply.body = .init(Data(repeating: 7, count: 101))
                return reply
            }
            let stack = try subject.stack { $0.interceptors = [growing] }
            var options = HTTP.Options()
            options.limits.body = 100
            let outcome = try await stack.observe(peer.url("/"), options: options).onlyOutcome()
            guard case .failure(.bodyTooLarge(limit: 100, _)) = outcome else {
                throw ConformanceFailure("Expected bodyTooLarge, saw \(outcome.summary)")
            }
        },
        ConformanceCheck("What next sends is checked like the fetch's own request") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let thrown = Lock<(any Error)?>(nil)
            let injecting = AsyncInterceptor { request, next in
                var request = request
                request.headers["X-A"] = "a\r\nX-Injected: 1"
                do { return try await next(request) } catch {
                    thrown.withLock { $0 = error }
                    throw error
                }
            }
            let stack = try subject.stack { $0.interceptors = [injecting] }
            guard case .failure(.invalidRequest) = try await stack.observe(peer.url("/")).onlyOutcome() else {
                throw ConformanceFailure("Expected invalidRequest")
            }
            try await eventually("the interceptor ends") { thrown.withLock { $0 } != nil }
            let caseName = thrown.withLock { ($0 as? any HTTPError)?.caseName }
            try expectEqual(caseName, "invalidRequest", "the error of next")
            try expectEqual(peer.requests().count, 0, "requests on the wire")
        },
    ]
}
