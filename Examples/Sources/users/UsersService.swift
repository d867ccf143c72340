import Foundation
import NetworkStack

/// The users of an app. Whoever makes it injects the stack: a real one, or a mock.
struct UsersService<Stack: HTTPNetworkStack<Data>>: Sendable {
    typealias Completion<T> = @Sendable (Result<T, FetchAndDecodeError<Stack.FetchError>>) -> Void

    let stack: Stack

    /// Fetches what an endpoint yields, and calls back on the main queue.
    @discardableResult
    func request<T: Decodable & Sendable & SendableMetatype>(
        _ endpoint: UserEndpoint,
        completion: @escaping Completion<T>
    ) -> any Cancelable {
        stack.fetchAndDecode(
            resource: HTTPResource(baseRequestMaking: .endpoint(endpoint)),
            decoding: .json(T.self),
            on: .main
        ) { result in
            completion(result.map(\.value))
        }
    }

    /// Fetches what an endpoint yields.
    func get<T: Decodable & Sendable & SendableMetatype>(_ endpoint: UserEndpoint) async throws -> T {
        try await stack.fetchAndDecode(
            resource: HTTPResource(baseRequestMaking: .endpoint(endpoint)),
            decoding: .json(T.self)
        ).value
    }
}
