import Foundation
import NetworkStack

/// An API's own error.
enum APIError: Error, Decodable {
    case generic(message: String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self = .generic(message: try container.decode(String.self, forKey: .message))
    }

    private enum CodingKeys: String, CodingKey { case message }
}

/// A resource at an absolute URL whose model is parsed and serialized by closures.
struct RESTResource<Model: Codable & Sendable>: Sendable {
    let parse: @Sendable (Data) throws -> Model = { try JSONDecoder().decode(Model.self, from: $0) }
    let serialize: @Sendable (Model) throws -> Data = { try JSONEncoder().encode($0) }
    let errorParser: @Sendable (Data) -> APIError? = { try? JSONDecoder().decode(APIError.self, from: $0) }

    let url: URL
    let method: HTTP.Method
    let headers: HTTP.Headers?
    let query: [URLQueryItem]
    let model: Model?

    init(
        url: URL,
        method: HTTP.Method = .GET,
        headers: HTTP.Headers? = nil,
        query: [URLQueryItem] = [],
        model: Model? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.query = query
        self.model = model
    }

    /// What a stack fetches. The request is made, and the model serialized, for every attempt anew.
    func resource<Request, Response>() -> HTTPResource<Request, Response> {
        HTTPResource(baseRequestMaking: .endpoint(self), errorDecoding: .parsing(errorParser))
    }

    /// What makes the model of what was fetched.
    func decoding<Response>() -> ModelDecoding<Model, Data, Response> { .parsing(parse) }
}

extension RESTResource: HTTPResourceEndpoint {
    var baseURL: URL { url }
    var queryItems: [URLQueryItem]? { query }

    func makeContent() throws -> HTTP.Content? {
        try model.map { try .serialized($0, as: .json, by: serialize) }
    }
}
