import BenchmarkClients
import Foundation
import NetworkStack
import URLSessionStack

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@main
struct Main {
    static func main() {
        ClientProgram.run(["urlsession-stack": URLSessionStackClient.self])
    }
}

/// The URLSession stack, in its asynchronous form.
struct URLSessionStackClient: BenchmarkClient {
    private let stack: Network.URLSessionNetworkStack
    private let measured: Network.URLSessionResource
    private let held: Network.URLSessionResource?
    private let distinct: DistinctRequests?
    private let decodes: Bool
    private let streams: Bool

    init(_ settings: ClientSettings) throws {
        var configuration = Network.Configuration()
        configuration.connections.perHost = max(32, settings.inFlight, settings.heldCount)
        stack = try Network.URLSessionNetworkStack(configuration: configuration)
        let body: HTTP.Body =
            if let file = settings.bodyFile {
                .file(path: file)
            } else if settings.bodyBytes > 0 {
                .bytes(Data(repeating: UInt8(ascii: "x"), count: settings.bodyBytes))
            } else {
                .none
            }
        let request = try HTTP.Request(method: HTTP.Method(rawValue: settings.method), url: settings.url, body: body)
        let interceptors: Network.URLSessionResource.Interceptors = (0..<settings.interceptors).map {
            FieldInterceptor(name: "X-Benchmark-\($0)")
        }
        measured = .init(baseRequestMaking: .request(request), interceptors: interceptors)
        held = try settings.heldURL.map { .init(baseRequestMaking: .request(try HTTP.Request(url: $0))) }
        distinct = DistinctRequests(settings)
        decodes = settings.decodes
        streams = settings.streams
    }

    func fetch(_ target: BenchmarkTarget) async throws -> Int {
        let measured = try distinct.map { .init(baseRequestMaking: .request(try HTTP.Request($0))) } ?? measured
        let resource = target == .measured ? measured : held ?? measured
        guard !streams else {
            var count = 0
            for try await piece in try await stack.streaming.fetch(resource: resource).value { count += piece.count }
            return count
        }
        let data = try await stack.fetch(resource: resource).value
        return decodes ? try JSONDecoder().decode([Article].self, from: data).count : data.count
    }

    func shutDown() {}
}

/// Sets a field of each request and hears of what becomes of it, as interceptors do.
private struct FieldInterceptor: HTTPResourceInterceptor {
    typealias Request = URLRequest
    typealias Response = URLResponse

    let name: String

    func interceptMakeRequestResult(
        _ result: Result<URLRequest, any Error>,
        handler: @escaping @Sendable (Result<URLRequest, any Error>) -> any Cancelable
    ) -> any Cancelable {
        handler(
            result.map { request in
                var request = request
                request.setValue("1", forHTTPHeaderField: name)
                return request
            }
        )
    }
}

extension HTTP.Request {
    /// The next of requests that differ.
    fileprivate init(_ distinct: DistinctRequests) throws {
        try self.init(url: distinct.nextURL())
        for (name, value) in DistinctRequests.fields { headers.append(value, for: HTTP.HeaderName(name)) }
    }
}
