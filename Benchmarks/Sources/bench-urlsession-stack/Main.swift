import BenchmarkClients
import Foundation
import NetworkStack
import URLSessionStack

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
    private let decodes: Bool

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
        measured = .init(baseRequestMaking: .request(request))
        held = try settings.heldURL.map { .init(baseRequestMaking: .request(try HTTP.Request(url: $0))) }
        decodes = settings.decodes
    }

    func fetch(_ target: BenchmarkTarget) async throws -> Int {
        let resource = target == .measured ? measured : held ?? measured
        let data = try await stack.fetch(resource: resource).value
        return decodes ? try JSONDecoder().decode([Article].self, from: data).count : data.count
    }

    func shutDown() {}
}
