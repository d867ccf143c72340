import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// HTTPInterceptors that end early, or cancel `next`.
    static let httpInterceptorsCancelled: [ConformanceCheck] = [
        ConformanceCheck("A cancel and the total timeout end an HTTPInterceptor that hangs") { subject in
            let (began, ended, peer) = (Gate(), EventLog(), try subject.serve { _ in .ok("x") })
            let hanging = AsyncInterceptor { request, next in
                defer { ended.add("ended") }
                let reply = try await next(request)
                began.open()
                try await Task.sleep(for: .seconds(60))
                return reply
            }
            let stack = try subject.stack { $0.interceptors = [hanging] }
            let observation = try stack.observe(peer.url("/"))
            try await began.opened()
            observation.cancel()
            try await observation.onlyOutcome(within: .seconds(10)).expectCancelled()
            let late = try await stack.observe(peer.url("/"), options: .clocks(total: .milliseconds(300))).onlyOutcome()
            guard case .failure(.timedOut(.total, _, _)) = late else {
                throw ConformanceFailure("Expected the total timeout, saw \(late.summary)")
            }
            try await eventually("both interceptors end") { ended.all.count == 2 }
        },
        ConformanceCheck("An HTTPInterceptor may give up on next, which frees the transfer", needs: [.network]) {
            subject in
            let closed = Gate()
            let server = try ScriptedServer { _ in
                [.receiveHead, .waitForClose, .run { _ in closed.open() }]
            }
            let impatient = AsyncInterceptor { request, next in
                let asking = Task { try await next(request) }
                try await Task.sleep(for: .milliseconds(100))
                asking.cancel()
                guard case .failure = await asking.result else { throw ConformanceFailure("next was not cancelled") }
                return HTTP.Reply(.init(status: .ok, url: request.url), body: Data("given up".utf8))
            }
            let stack = try subject.stack { $0.interceptors = [impatient] }
            try expectEqual(try await stack.observe(server.url("/")).onlyOutcome().text(), "given up", "the body")
            try await closed.opened(within: .seconds(10))
        },
        ConformanceCheck("Cancelling next while its attempt's start is reported sends nothing") { subject in
            let (hasStarted, hasReturned, peer) = (Gate(), Latch(), try subject.serve { _ in .ok("answered") })
            let slow = Spy("slow", EventLog()).with {
                $0.scheduled = { _ in
                    hasStarted.open()
                    hasReturned.wait(seconds: 10)
                    // The interceptor returns meanwhile.
                    Latch().wait(seconds: 0.1)
                }
            }
            let impatient = AsyncInterceptor { request, next in
                let asking = Task { try await next(request) }
                try await hasStarted.opened()
                asking.cancel()
                guard case .failure = await asking.result else { throw ConformanceFailure("next was not cancelled") }
                hasReturned.open()
                return HTTP.Reply(.init(status: .ok, url: request.url), body: Data("given up".utf8))
            }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(peer.url("/"), by: [slow, impatient])
            try expectEqual(try await subject.stack().observe(resource).onlyOutcome().text(), "given up", "the body")
            try expectEqual(peer.requests().count, 0, "requests on the wire")
        },
        ConformanceCheck("Cancelling next at any moment ends its wait") { subject in
            let peer = try subject.serve { _ in .ok("answered") }
            let moments = Lock(SeededRandom(seed: 1))
            let impatient = AsyncInterceptor { request, next in
                let asking = Task { try await next(request) }
                try await Task.sleep(for: .microseconds(moments.withLock { $0.number(below: 2000) }))
                asking.cancel()
                switch await asking.result {
                case .success(let reply): return reply
                case .failure(let error as any HTTPError) where error.isCancelled:
                    return HTTP.Reply(.init(status: .ok, url: request.url), body: Data("given up".utf8))
                case .failure(let error): throw error
                }
            }
            let stack = try subject.stack { $0.interceptors = [impatient] }
            for _ in 0..<50 {
                let text = try await stack.observe(peer.url("/")).onlyOutcome(within: .seconds(10)).text()
                try expect(["answered", "given up"].contains(text), "the body is \(text)")
            }
        },
    ]
}
