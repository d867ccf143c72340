import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

typealias Stack = Network.URLSessionNetworkStack
typealias Fetched = Result<Network.Value<Data, URLResponse>, Network.URLSessionError>

extension HTTPResource<URLRequest, URLResponse> {
    /// A GET, changed by a closure.
    static func url(
        _ text: String,
        options: HTTP.Options? = nil,
        interceptors: Interceptors = [],
        _ change: (inout URLRequest) -> Void = { _ in }
    ) throws -> Self {
        var request = URLRequest(url: try URLText.parse(text))
        change(&request)
        return Self(
            baseRequestMaking: .init { [request] handler in handler(.success(request)) },
            interceptors: interceptors,
            options: options.map { value in { @Sendable (stack: inout HTTP.Options) in stack = value } }
        )
    }
}

enum URLText {
    struct Invalid: Error {}

    static func parse(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw Invalid() }
        return url
    }
}

extension Network.Value where T == Data {
    var text: String { String(decoding: value, as: UTF8.self) }
}

extension Stack {
    /// A stack whose session was made with it as the delegate, and injected.
    static func injected(
        handler: (any AuthenticationChallengeHandler)? = nil,
        configuration: URLSessionConfiguration = .default
    ) -> Stack {
        let network = Stack(authenticationChallengeHandler: handler)
        network.session = URLSession(configuration: configuration, delegate: network, delegateQueue: nil)
        return network
    }

    /// Fetches and returns the outcome.
    func outcome(of resource: Resource) async -> Fetched {
        do { return .success(try await fetch(resource: resource)) } catch { return .failure(error) }
    }
}

extension Result where Success == Network.Value<Data, URLResponse>, Failure == Network.URLSessionError {
    /// The outcome as text.
    var summary: String {
        switch self {
        case .success(let fetched): "success \(fetched.text)"
        case .failure(.http(let status, _, _)): "http \(status)"
        case .failure(.cancelled): "cancelled"
        case .failure(.shutDown): "shut down"
        case .failure(.timedOut(let timeout, _, _)): "timed out: \(timeout.rawValue)"
        case .failure(.transport(let error, _)): "transport: \(error)"
        case .failure(let error): "\(error)"
        }
    }
}

/// Waits for a condition that no event announces.
func eventually(within limit: Duration = .seconds(10), _ condition: () -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while !condition() {
        if ContinuousClock.now > deadline { return false }
        try await Task.sleep(for: .milliseconds(1))
    }
    return true
}

extension ExitTest.Result? {
    /// Whether the process printed this text to standard error.
    func printsOnExit(_ text: String) -> Bool {
        String(decoding: self?.standardErrorContent ?? [], as: UTF8.self).contains(text)
    }
}
