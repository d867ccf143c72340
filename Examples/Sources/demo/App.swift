import Foundation
import NetworkStack

/// The app: code that knows no backend. Everything here runs on any stack.
struct App<Stack: HTTPNetworkStack<Data>>: Sendable {
    let stack: Stack
    let api: DemoAPI

    /// Fetches JSON and decodes it.
    func catalog() async throws -> Catalog {
        try await stack.fetchAndDecode(resource: resource(.catalog), decoding: .json(Catalog.self)).value
    }

    /// Asks for what is not there, and answers with the status of the typed error.
    func missing() async throws -> HTTP.StatusCode {
        do {
            _ = try await stack.fetch(resource: resource(.missing))
            throw Surprise("the server has what it should not have")
        } catch let error as Stack.FetchError {
            guard case .http(let status, _, _) = error else { throw error }
            return status
        }
    }

    /// Asks for what takes too long, and answers with the clock that ran out.
    func tooSlow(within limit: Duration) async throws -> HTTP.Timeout {
        do {
            _ = try await stack.fetch(resource: resource(.slow, options: { $0.timeouts.total = limit }))
            throw Surprise("the slow response came in time")
        } catch let error as Stack.FetchError {
            guard case .timedOut(let clock, _, _) = error else { throw error }
            return clock
        }
    }

    /// Gives up what takes too long, and answers with how long giving up took.
    func givenUp(after patience: Duration) async throws -> Duration {
        let fetching = Task { try await stack.fetch(resource: resource(.slow)) }
        try await Task.sleep(for: patience)
        let began = ContinuousClock.now
        fetching.cancel()
        switch await fetching.result {
        case .success: throw Surprise("the slow response came in time")
        case .failure(let error):
            guard case .cancelled? = error as? Stack.FetchError else { throw error }
        }
        return ContinuousClock.now - began
    }

    /// Fetches many at once, and answers with the bytes received.
    func many(_ count: Int, at width: Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<width {
                group.addTask {
                    var bytes = 0
                    for _ in 0..<(count / width) {
                        bytes += try await stack.fetch(resource: resource(.kilobyte)).value.count
                    }
                    return bytes
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private func resource(_ place: DemoAPI.Place, options: HTTP.Options.Change? = nil) -> Stack.Resource {
        HTTPResource(baseRequestMaking: .endpoint(api.endpoint(place)), options: options)
    }
}

/// The API of the demo's server, as endpoints.
struct DemoAPI: Sendable {
    enum Place: String {
        case catalog = "json"
        case missing = "not/here"
        case slow = "slow/bytes/1m"
        case kilobyte = "bytes/1k"
    }

    struct Endpoint: HTTPResourceEndpoint {
        let baseURL: URL
        let place: Place
        var method: HTTP.Method { .GET }
        var path: String? { place.rawValue }
        var headers: HTTP.Headers? { ["Accept": "application/json, */*;q=0.5"] }
    }

    let baseURL: URL

    func endpoint(_ place: Place) -> Endpoint { Endpoint(baseURL: baseURL, place: place) }
}

/// What the server's JSON decodes to.
struct Catalog: Decodable, Sendable, Equatable {
    struct Nested: Decodable, Equatable {
        let flag: Bool
    }

    let name: String
    let numbers: [Int]
    let nested: Nested
}

/// Something came out otherwise than it must.
struct Surprise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
