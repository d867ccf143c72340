import Foundation
import NetworkStack
import Synchronization

/// A client for OAuth 2.0, as an app may have one: it keeps a token, and gets another when that one is no good.
final class OAuth2Client: Sendable {
    typealias OAuth2Token = String

    private let current = Mutex<OAuth2Token>("stale")

    /// Yields the current token, or one that is fetched for the purpose.
    func token(for request: HTTP.Request, completion: (Result<OAuth2Token, any Error>) -> Void) -> any Cancelable {
        completion(.success(current.withLock { $0 }))
        return EmptyCancelable()
    }

    /// Replaces a token that the server refused; answers whether there is another one now.
    func renew(_ refused: OAuth2Token) -> Bool {
        current.withLock { current in
            if current == refused { current = "fresh" }
            return current != refused
        }
    }
}

/// One way: the client itself authenticates requests.
extension OAuth2Client: RequestAuthenticator {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    @discardableResult
    func authenticateRequest(_ request: HTTP.Request, handler: @escaping AuthenticationHandler) -> any Cancelable {
        let bag = CancelableBag()
        bag += token(for: request) { result in
            switch result {
            case .failure(let error): bag += handler(.failure(error))
            case .success(let token):
                var request = request
                request.headers[.authorization] = "token \(token)"
                bag += handler(.success(request))
            }
        }
        return bag
    }

    func evaluateFailedRequest(
        _ request: HTTP.Request,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        guard response?.status == .unauthorized,
            let token = request.headers[.authorization]?.split(separator: " ").last.map(String.init)
        else { return .none }
        return renew(token) ? .retry : .noRetry(.custom(error))
    }
}

/// The other way: an authenticator of its own holds the client.
struct GitHubAuthenticator: RequestAuthenticator {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    let client: OAuth2Client

    @discardableResult
    func authenticateRequest(_ request: HTTP.Request, handler: @escaping AuthenticationHandler) -> any Cancelable {
        client.authenticateRequest(request, handler: handler)
    }

    /// This one does not react to failures.
    func evaluateFailedRequest(
        _ request: HTTP.Request,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .none }
}
