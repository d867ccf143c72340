import Foundation
import NetworkStack
import NetworkStackTesting

struct User: Codable, Equatable, Sendable {
    let id: Int
    let username: String
    let email: String
}

/// What an app says once for all of its endpoints.
protocol AppEndpoint: HTTPHostEndpoint {}

extension AppEndpoint {
    var scheme: HTTP.Scheme { .http }
    var host: HTTP.Host { Server.host }
}

enum UserEndpoint: AppEndpoint {
    case all
    case get(userId: Int)

    var method: HTTP.Method { .GET }

    var path: String? {
        switch self {
        case .all: "/users"
        case .get: "/users/{userId}"
        }
    }

    var pathParameters: [String: String] {
        switch self {
        case .all: [:]
        case .get(let userId): ["userId": "\(userId)"]
        }
    }

    var queryItems: [URLQueryItem]? {
        switch self {
        case .all: nil
        case .get(let userId): [URLQueryItem(name: "userId", value: "\(userId)")]
        }
    }

    var headers: HTTP.Headers? { [.accept: "application/json"] }
}

/// The files that stand for the server as long as it is not ready.
extension UserEndpoint: MockEndpoint {
    var mockFilename: String? {
        switch self {
        case .all: "users"
        case .get: "user"
        }
    }
}
