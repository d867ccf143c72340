import Foundation
import NetworkStack

/// The endpoints of GitHub's API that the client knows.
enum GitHubEndpoint: HTTPResourceEndpoint {
    case repo(owner: String, name: String)
    case repoCollaborators(owner: String, name: String, affiliation: RepoAffiliation = .all)

    enum RepoAffiliation: String {
        case outside
        case direct
        case all
    }

    var method: HTTP.Method {
        switch self {
        case .repo, .repoCollaborators: .GET
        }
    }

    /// Against the real one: `https://api.github.com`.
    var baseURL: URL { FakeGitHub.url }

    var path: String? {
        switch self {
        case .repo: "/repos/{owner}/{name}"
        case .repoCollaborators: "/repos/{owner}/{name}/collaborators"
        }
    }

    var pathParameters: [String: String] {
        switch self {
        case .repo(let owner, let name), .repoCollaborators(let owner, let name, _): ["owner": owner, "name": name]
        }
    }

    var queryItems: [URLQueryItem]? {
        switch self {
        case .repo: nil
        case .repoCollaborators(_, _, let affiliation):
            [URLQueryItem(name: "affiliation", value: affiliation.rawValue)]
        }
    }

    var headers: HTTP.Headers? { ["Accept": "application/vnd.github.v3+json"] }
}

/// What GitHub says went wrong.
enum GitHubAPIError: Error, Decodable {
    case generic(message: String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let message = try container.decode(String.self, forKey: .message)
        self = .generic(message: message)
    }

    private enum CodingKeys: String, CodingKey {
        case message
    }
}

struct GitHubRepo: Decodable {
    var name: String
    var fullName: String
    var stars: Int

    private enum CodingKeys: String, CodingKey {
        case name
        case fullName = "full_name"
        case stars = "stargazers_count"
    }
}

struct GitHubRepoCollaborator: Decodable {
    var login: String
}

extension HTTPResource {
    /// A resource of GitHub's, on any stack.
    static func github(
        endpoint: GitHubEndpoint,
        interceptors: Interceptors = [],
        retryActionPriority: @escaping Retry.Action.CompareClosure = Retry.Action.mostPrioritary
    ) -> Self {
        .init(
            baseRequestMaking: .endpoint(endpoint),
            errorDecoding: .json(GitHubAPIError.self),
            interceptors: interceptors,
            retryActionPriority: retryActionPriority
        )
    }
}
