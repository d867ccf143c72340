import Foundation
import NetworkStack

/// The hosts of the app, by name.
extension HTTP.Host {
    /// Where accounts are kept.
    static var accounts: Self { Server.host }
}

struct User: Decodable, Equatable, Sendable {
    let id: String
    let name: String
    let since: Date
}

/// What the service says went wrong.
struct ServerError: Error, Decodable, Equatable {
    let code: Int
    let reason: String
}

/// All mappers of the app share their error and the format of its dates.
protocol ServerErrorMapper: ResponseMapper where APIError == ServerError {}

extension ServerErrorMapper {
    func makeDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}

/// The requests of the app: typed, validated before anything is sent.
protocol AccountRequest: HTTPHostEndpoint {
    associatedtype Mapper: ServerErrorMapper
    var mapper: Mapper { get }
}

extension AccountRequest {
    var scheme: HTTP.Scheme { .http }
    var host: HTTP.Host { .accounts }
}

/// Reads a user.
struct UserRequest: AccountRequest {
    struct Mapper: ServerErrorMapper { typealias Model = User }

    let tenant: String
    let id: String

    var method: HTTP.Method { .GET }
    var path: String? { "/v1.0/{tenant}/users/{id}" }
    var pathParameters: [String: String] { ["tenant": tenant, "id": id] }
    var mapper: Mapper { Mapper() }
}

/// Sends a user's picture, with a caption.
struct PictureUpload: AccountRequest {
    struct Receipt: Decodable, Sendable { let bytes: Int }
    struct Mapper: ServerErrorMapper { typealias Model = Receipt }

    let id: String
    let caption: String
    let file: String

    var method: HTTP.Method { .POST }
    var path: String? { "/v1.0/pictures/{id}" }
    var pathParameters: [String: String] { ["id": id] }
    var mapper: Mapper { Mapper() }

    func makeContent() throws -> HTTP.Content? {
        var form = MultipartFormData()
        form.append(caption, name: "caption")
        form.append(file: file, name: "picture", filename: "me.png", mediaType: .png)
        return try .multipart(form)
    }
}

/// What the app talks to: a stack, and one token for all requests.
struct AccountClient<Stack: HTTPNetworkStack<Data>>: Sendable {
    let stack: Stack

    /// Makes a request and maps its answer.
    func execute<Request: AccountRequest>(_ request: Request) async throws -> Request.Mapper.Model {
        let resource = Stack.Resource(
            baseRequestMaking: .endpoint(request),
            errorDecoding: .mapping(request.mapper)
        )
        return try await stack.fetchAndDecode(resource: resource, decoding: .mapping(request.mapper)).value
    }
}
