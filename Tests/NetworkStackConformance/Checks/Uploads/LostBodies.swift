import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Bodies that are no longer available when they are needed.
    static let lostBodies: [ConformanceCheck] = [
        ConformanceCheck(
            "A file deleted before a redirect's next hop fails the fetch",
            needs: [.network]
        ) {
            subject in
            let file = try ContentFile(Data("content".utf8))
            let peer = try subject.serve { request in
                guard request.path == "/first" else { return .ok(request.text) }
                try? FileManager.default.removeItem(atPath: file.path)
                return .raw("HTTP/1.1 307 Temporary Redirect\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n")
            }
            let observation = try subject.stack().observe(
                peer.url("/first"),
                method: .POST,
                body: .file(path: file.path)
            )
            guard case .requestBody(let error, _) = try await observation.onlyOutcome().refusal() else {
                throw ConformanceFailure("Expected requestBody")
            }
            try expect(error is FileError, "Expected a FileError, saw \(error)")
        },
        ConformanceCheck("A stream that cannot be made again fails the next attempt") { subject in
            struct Spent: Error {}
            let number = Lock(0)
            let body = HTTP.Body.stream(
                .init { () throws -> AsyncStream<Data> in
                    let isFirst = number.withLock { number in
                        number += 1
                        return number == 1
                    }
                    guard isFirst else { throw Spent() }
                    return AsyncStream([Data("x".utf8)])
                }
            )
            let peer = try subject.serve { _ in .status(503) }
            let spy = Spy("spy").with { $0.vote = { $0.state.retryCount == 0 ? .retry : .none } }
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/"),
                method: .POST,
                body: body,
                by: [spy]
            )
            guard case .requestBody(let error, _) = try await subject.stack().observe(resource).onlyOutcome().refusal()
            else { throw ConformanceFailure("Expected requestBody") }
            try expect(error is Spent, "Expected Spent, saw \(error)")
        },
        ConformanceCheck(
            "A stream of a cancelled fetch never arrives as a whole body",
            needs: [.network, .streamedRequestBody]
        ) {
            subject in
            let counts = Lock<[Int]>([])
            let peer = try subject.serve { request in
                if request.path == "/upload" { counts.withLock { $0.append(request.body.count) } }
                return .ok("done")
            }
            let stack = try subject.stack()
            let piece = Data(count: 3000)
            for _ in 0..<1500 {
                let body = HTTP.Body.stream(.init { AsyncStream(Array(repeating: piece, count: 80)) })
                let fetching = try stack.observe(peer.url("/upload"), method: .POST, body: body)
                let until = ContinuousClock.now + .microseconds(Int.random(in: 0..<2500))
                while ContinuousClock.now < until {}
                fetching.cancel()
                _ = try await fetching.onlyOutcome()
            }
            try await stack.text(peer.url("/after"))
            let cut = counts.withLock { $0 }.filter { $0 != 240_000 }
            try expect(
                cut.isEmpty,
                "Of \(counts.withLock { $0.count }) uploads that arrived whole, \(cut.count) were cut: \(cut.prefix(5))"
            )
        },
    ]
}
