import AsyncHTTPClient
import BenchmarkClients
import Foundation
import NIOCore
import NIOSSL

@main
struct Main {
    static func main() {
        ClientProgram.run(["async-http-client": AsyncHTTPClientClient.self])
    }
}

/// swift-server's AsyncHTTPClient.
struct AsyncHTTPClientClient: BenchmarkClient {
    private let client: HTTPClient
    private let request: HTTPClientRequest
    private let held: HTTPClientRequest?
    private let distinct: DistinctRequests?
    private let decodes: Bool
    private let streams: Bool
    private let bodyFile: String?

    init(_ settings: ClientSettings) throws {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(
            32,
            settings.inFlight,
            settings.heldCount
        )
        if let file = settings.authorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        var request = HTTPClientRequest(url: settings.url)
        request.method = .init(rawValue: settings.method)
        if settings.bodyBytes > 0, settings.bodyFile == nil {
            request.body = .bytes(ByteBuffer(repeating: UInt8(ascii: "x"), count: settings.bodyBytes))
        }
        self.request = request
        bodyFile = settings.bodyFile
        held = settings.heldURL.map { HTTPClientRequest(url: $0) }
        distinct = DistinctRequests(settings)
        decodes = settings.decodes
        streams = settings.streams
    }

    func fetch(_ target: BenchmarkTarget) async throws -> Int {
        var request = target == .measured ? request : held ?? request
        if let distinct, target == .measured {
            request = HTTPClientRequest(url: distinct.nextURL())
            for (name, value) in DistinctRequests.fields { request.headers.add(name: name, value: value) }
        }
        if let bodyFile, target == .measured {
            let size = try FileManager.default.attributesOfItem(atPath: bodyFile)[.size] as? Int ?? 0
            request.body = .stream(FileChunks(path: bodyFile), length: .known(Int64(size)))
        }
        let response = try await client.execute(request, timeout: .minutes(10))
        guard (200...299).contains(response.status.code) else {
            throw UnexpectedResponse("The status is \(response.status.code).")
        }
        if streams {
            var count = 0
            for try await piece in response.body { count += piece.readableBytes }
            return count
        }
        let body = try await response.body.collect(upTo: 1 << 30)
        guard decodes else { return body.readableBytes }
        return try JSONDecoder().decode([Article].self, from: Data(body.readableBytesView)).count
    }

    func shutDown() async { try? await client.shutdown() }
}

/// A file in pieces of 512 KiB.
struct FileChunks: AsyncSequence, Sendable {
    let path: String

    struct AsyncIterator: AsyncIteratorProtocol {
        let handle: FileHandle?

        func next() async throws -> ByteBuffer? {
            guard let data = try handle?.read(upToCount: 512 * 1024), !data.isEmpty else { return nil }
            return ByteBuffer(bytes: data)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(handle: FileHandle(forReadingAtPath: path)) }
}
