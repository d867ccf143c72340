import Foundation
import NetworkStack

/// The app. This code does not know which backend it runs on.
struct App<Stack: HTTPNetworkStack<Data>>: Sendable {
    let stack: Stack
    /// The URL of an nginx, with a slash at the end.
    let server: String

    func json() async throws -> String {
        let catalog = try await stack.get("\(server)json", as: Catalog.self)
        guard catalog.numbers == [1, 2, 3] else { throw Surprise("the JSON has \(catalog)") }
        return "\(catalog.name), \(catalog.numbers)"
    }

    func error() async throws -> String {
        do { _ = try await stack.get("\(server)not/here", as: Catalog.self) } catch {
            guard case .http(let status, _, _) = error else { throw error }
            return ".http(\(status))"
        }
        throw Surprise("the server has what it must not have")
    }

    func timeout() async throws -> String {
        let began = ContinuousClock.now
        do {
            _ = try await stack.data(
                for: .get("\(server)slow/bytes/1m"),
                options: { $0.timeouts.total = .milliseconds(300) }
            )
        } catch {
            guard case .timedOut(let timeout, _, _) = error else { throw error }
            return ".timedOut(.\(timeout)), \((ContinuousClock.now - began).milliseconds) ms"
        }
        throw Surprise("the slow response came in time")
    }

    func cancel() async throws -> String {
        let task = Task { try await stack.data(for: .get("\(server)slow/bytes/1m")) }
        try await Task.sleep(for: .milliseconds(100))
        let began = ContinuousClock.now
        task.cancel()
        guard case .failure(let error as Stack.FetchError) = await task.result, case .cancelled = error else {
            throw Surprise("the fetch was not cancelled")
        }
        return ".cancelled in \((ContinuousClock.now - began).milliseconds) ms"
    }

    func stream() async throws -> String {
        let began = ContinuousClock.now
        let (body, _) = try await stack.stream(for: .get("\(server)slow/bytes/64k"))
        for try await chunk in body {
            return "\(chunk.count) bytes at \((ContinuousClock.now - began).milliseconds) ms"
        }
        throw Surprise("the stream is empty")
    }

    /// Fetches many, some at once.
    func many(_ count: Int, at width: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    for _ in 0..<(count / width) {
                        let (body, _) = try await stack.data(for: .get("\(server)bytes/1k"))
                        guard body.count == 1024 else { throw Surprise("\(body.count) bytes came") }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// What the server's JSON decodes to.
struct Catalog: Decodable, Sendable {
    let name: String
    let numbers: [Int]
}

/// A result is not what it must be.
struct Surprise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
    var milliseconds: String { String(format: seconds < 0.1 ? "%.1f" : "%.0f", seconds * 1000) }
}
