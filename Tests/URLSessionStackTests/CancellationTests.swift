import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("Cancels and timeouts of a URLSession stack", .serialized, .timeLimit(.minutes(2)))
struct CancellationTests {
    @Test(
        "Five hundred fetches cancelled at random end once each and leave the stack usable",
        arguments: [false, true]
    )
    func races(isInjected: Bool) async throws {
        let server = try ScriptedServer.responding { request in
            .ok(request.text.isEmpty ? String(repeating: "x", count: 2000) : request.text)
        }
        let network = isInjected ? Stack.injected() : try Stack(configuration: .init())
        let counts = Lock([Int](repeating: 0, count: 500))
        let wrong = Lock<[String]>([])
        await withTaskGroup { group in
            for number in 0..<500 {
                group.addTask {
                    let body = number % 3 == 0 ? Data(repeating: 66, count: 10_000) : nil
                    guard
                        let resource = try? Stack.Resource.url(
                            server.url(),
                            { if let body { ($0.httpMethod, $0.httpBody) = ("POST", body) } }
                        )
                    else { return }
                    let fetching = network.fetch(resource: resource) { result in
                        counts.withLock { $0[number] += 1 }
                        switch result {
                        case .success, .failure(.cancelled): break
                        case .failure(let error): wrong.withLock { $0.append("\(error)") }
                        }
                    }
                    try? await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000)))
                    fetching.cancel()
                    if number % 5 == 0 { fetching.cancel() }
                }
            }
        }
        #expect(try await eventually { counts.withLock { $0 }.allSatisfy { $0 == 1 } })
        #expect(wrong.withLock { $0 } == [])
        #expect(try await network.fetch(resource: .url(server.url())).value.count == 2000)
        await network.shutdown()
        #expect(counts.withLock { $0 }.allSatisfy { $0 == 1 })
    }

    @Test("Cancels at the moment of the end change nothing")
    func photoFinish() async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let network = try Stack(configuration: .init())
        for _ in 0..<100 {
            await withTaskGroup { group in
                for _ in 0..<16 {
                    group.addTask {
                        guard let resource = try? Stack.Resource.url(server.url()) else { return }
                        let done = Gate()
                        let fetching = network.fetch(resource: resource) { _ in done.open() }
                        try? await Task.sleep(for: .microseconds(Int.random(in: 500..<3000)))
                        fetching.cancel()
                        try? await done.opened()
                    }
                }
            }
        }
        #expect(try await network.fetch(resource: .url(server.url())).text == "x")
    }

    @Test("Timeouts of 0.3 s fire after 0.3 s")
    func shortClocks() async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        let network = try Stack(configuration: .init())
        let clocks: [(String, WritableKeyPath<HTTP.Options, Duration?>)] = [
            ("total", \.timeouts.total), ("firstByte", \.timeouts.firstByte),
        ]
        for (name, clock) in clocks {
            var options = HTTP.Options()
            options[keyPath: clock] = .milliseconds(300)
            let began = ContinuousClock.now
            #expect(await network.outcome(of: try .url(server.url(), options: options)).summary == "timed out: \(name)")
            let elapsed = ContinuousClock.now - began
            #expect(elapsed >= .milliseconds(300) && elapsed < .seconds(30))
        }
        try await server.waitUntil { $0.connections.allSatisfy { $0.state != .open } }
    }
}
