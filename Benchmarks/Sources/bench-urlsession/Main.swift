import BenchmarkClients
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@main
struct Main {
    static func main() {
        ClientProgram.run(["urlsession": URLSessionClient.self])
    }
}

/// Foundation's URLSession as it is.
struct URLSessionClient: BenchmarkClient {
    private let session: URLSession
    private let request: URLRequest
    private let bodyFile: URL?
    private let held: URLRequest?
    private let distinct: DistinctRequests?
    private let decodes: Bool

    init(_ settings: ClientSettings) throws {
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = max(32, settings.inFlight, settings.heldCount)
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
        guard let url = URL(string: settings.url) else { throw UnexpectedResponse("The URL is none.") }
        var request = URLRequest(url: url)
        request.httpMethod = settings.method
        if settings.bodyBytes > 0, settings.bodyFile == nil {
            request.httpBody = Data(repeating: UInt8(ascii: "x"), count: settings.bodyBytes)
        }
        self.request = request
        bodyFile = settings.bodyFile.map { URL(fileURLWithPath: $0) }
        held = settings.heldURL.flatMap { URL(string: $0) }.map { URLRequest(url: $0) }
        distinct = DistinctRequests(settings)
        decodes = settings.decodes
    }

    func fetch(_ target: BenchmarkTarget) async throws -> Int {
        var request = request
        if let distinct, let url = URL(string: distinct.nextURL()) {
            request = URLRequest(url: url)
            for (name, value) in DistinctRequests.fields { request.setValue(value, forHTTPHeaderField: name) }
        }
        let (data, response): (Data, URLResponse) =
            if let bodyFile {
                try await session.upload(for: request, fromFile: bodyFile)
            } else {
                try await session.data(for: target == .measured ? request : held ?? request)
            }
        guard let status = (response as? HTTPURLResponse)?.statusCode, (200...299).contains(status) else {
            throw UnexpectedResponse("The response is no success.")
        }
        return decodes ? try JSONDecoder().decode([Article].self, from: data).count : data.count
    }

    func shutDown() { session.invalidateAndCancel() }
}
