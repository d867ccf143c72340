import Foundation
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Cancels at random moments.
    static let cancelAtRandom: [ConformanceCheck] = [
        ConformanceCheck("Cancels at three hundred random moments end each fetch exactly once") {
            subject in
            let seed = UInt64(0x5EED)
            let peer = try subject.serve { request in
                usleep(UInt32(request.path.utf8.reduce(0) { $0 &+ Int($1) } % 4) * 300)
                return .ok(content(of: request.path))
            }
            let stack = try subject.stack { $0.connections.perHost = 6 }
            let (cancelled, whole) = (Lock(0), Lock(0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<10 {
                    group.addTask {
                        var random = SeededRandom(seed: seed &+ UInt64(lane))
                        for number in 0..<30 {
                            let path = "/\(lane)/\(number)"
                            let observation = try stack.observe(peer.url(path))
                            try await Task.sleep(for: .microseconds(Int.random(in: 0...4000, using: &random)))
                            observation.cancel()
                            switch try await observation.onlyOutcome() {
                            case .failure(.cancelled): cancelled.withLock { $0 += 1 }
                            case let outcome:
                                try expectEqual(try outcome.text(), content(of: path), "the body (seed \(seed))")
                                whole.withLock { $0 += 1 }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try expectEqual(cancelled.withLock { $0 } + whole.withLock { $0 }, 300, "fetches that ended")
            try expect(cancelled.withLock { $0 } > 0, "No cancel came in time: the check proves nothing")
            for number in 0..<20 {
                try expectEqual(
                    try await stack.text(peer.url("/after/\(number)")),
                    content(of: "/after/\(number)"),
                    "after"
                )
            }
        },
        ConformanceCheck("Cancels while responses arrive end each attempt exactly once") { subject in
            let peer = try subject.serve { .ok($0.path) }
            let ends = Lock<[Int: Int]>([:])
            var spy = Spy("spy").with { $0.content = { data, handler in handler(.success(data)) } }
            spy.scheduled = { event in ends.withLock { $0[event.identifier, default: 0] += 0 } }
            spy.succeeded = { event in ends.withLock { $0[event.identifier, default: 0] += 1 } }
            spy.vote = { event in
                ends.withLock { $0[event.identifier, default: 0] += 1 }
                return .none
            }
            let stack = try subject.stack { [spy] in
                $0.interceptors = [spy]
                $0.connections.perHost = 8
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: UInt64(lane))
                        for number in 0..<100 {
                            let observation = try stack.observe(peer.url("/\(lane)/\(number)"))
                            try await Task.sleep(for: .microseconds(Int.random(in: 0...1500, using: &random)))
                            observation.cancel()
                            _ = try await observation.onlyOutcome()
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await eventually("every attempt has ended") { ends.withLock { $0.values.allSatisfy { $0 > 0 } } }
            try expectEqual(ends.withLock { $0.values.max() }, 1, "the most ends reported for an attempt")
        },
    ]

    @Sendable private static func content(of path: String) -> String {
        path + String(repeating: ".", count: 20_000) + path
    }
}
