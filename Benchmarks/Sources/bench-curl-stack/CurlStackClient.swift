import BenchmarkClients
import CurlStack
import FoundationEssentials
import NetworkStack

/// The curl stack, in its asynchronous form.
struct CurlStackClient: BenchmarkClient {
    private let fetches: CurlFetches

    init(_ settings: ClientSettings) throws { fetches = try CurlFetches(settings) }

    func fetch(_ target: BenchmarkTarget) async throws -> Int {
        if fetches.streams { return try await fetches.count(target) }
        let data = try await fetches.stack.fetch(resource: fetches.resource(target)).value
        return try fetches.measure(data)
    }

    func shutDown() async { await fetches.stack.shutdown() }
}

/// The curl stack, called back.
struct CurlStackCallbackClient: CallbackBenchmarkClient {
    private let fetches: CurlFetches

    init(_ settings: ClientSettings) throws { fetches = try CurlFetches(settings) }

    func fetch(_ target: BenchmarkTarget, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        do {
            fetches.stack.fetch(resource: try fetches.resource(target)) { result in
                completion(Result { try fetches.measure(result.get().value) })
            }
        } catch { completion(.failure(error)) }
    }

    func fetch(_ target: BenchmarkTarget) async throws -> Int {
        try await fetches.measure(fetches.stack.fetch(resource: fetches.resource(target)).value)
    }

    func shutDown() async { await fetches.stack.shutdown() }
}

/// A stack, and the resources that the settings ask for.
private struct CurlFetches: Sendable {
    let stack: Network.CurlNetworkStack
    private let measured: Network.CurlResource
    private let held: Network.CurlResource?
    private let distinct: DistinctRequests?
    private let decodes: Bool
    let streams: Bool

    init(_ settings: ClientSettings) throws {
        if settings.usesFastAllocator { try Network.CurlNetworkStack.useFastAllocator() }
        var configuration = Network.Configuration()
        configuration.connections.perHost = max(32, settings.inFlight, settings.heldCount)
        configuration.connections.streamsPerConnection = max(100, settings.inFlight)
        if let file = settings.authorities { configuration.tls.trustRoots = .file(path: file) }
        if !settings.pins.isEmpty {
            let policy = try PinningPolicy(domainName: "localhost", pinnedHashes: Set(settings.pins), scope: .leaf)
            configuration.serverTrust = try ServerTrustConfiguration(pinningPolicies: [policy])
        }
        configuration.listeners = (0..<settings.listeners).map { _ in IdleListener() }
        configuration.listeners += (0..<settings.recorders).map { _ in FlightRecorder() }
        stack = try Network.CurlNetworkStack(configuration: configuration)

        let body: HTTP.Body =
            if let file = settings.bodyFile {
                .file(path: file)
            } else if settings.bodyBytes > 0 {
                .bytes(Data(repeating: UInt8(ascii: "x"), count: settings.bodyBytes))
            } else {
                .none
            }
        let request = try HTTP.Request(method: HTTP.Method(rawValue: settings.method), url: settings.url, body: body)
        var interceptors: Network.CurlResource.Interceptors = (0..<settings.interceptors).map {
            FieldInterceptor(name: "X-Benchmark-\($0)")
        }
        for _ in 0..<settings.passiveInterceptors { interceptors.append(PassiveInterceptor()) }
        measured = .init(baseRequestMaking: .request(request), interceptors: interceptors)
        held = try settings.heldURL.map { .init(baseRequestMaking: .request(try HTTP.Request(url: $0))) }
        distinct = DistinctRequests(settings)
        decodes = settings.decodes
        streams = settings.streams
    }

    func resource(_ target: BenchmarkTarget) throws -> Network.CurlResource {
        switch target {
        case .measured: try distinct.map { .init(baseRequestMaking: .request(try HTTP.Request($0))) } ?? measured
        case .held: held ?? measured
        }
    }

    /// Fetches and drops the content while it arrives.
    func count(_ target: BenchmarkTarget) async throws -> Int {
        var count = 0
        for try await piece in try await stack.streaming.fetch(resource: resource(target)).value {
            count += piece.count
        }
        return count
    }

    func measure(_ data: Data) throws -> Int {
        decodes ? try JSONDecoder().decode([Article].self, from: data).count : data.count
    }
}

/// Sets a field of each request and hears of what becomes of it, as interceptors do.
private struct FieldInterceptor: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    let name: String

    func interceptMakeRequestResult(
        _ result: Result<HTTP.Request, any Error>,
        handler: @escaping @Sendable (Result<HTTP.Request, any Error>) -> any Cancelable
    ) -> any Cancelable {
        handler(
            result.map { request in
                var request = request
                request.headers[HTTP.HeaderName(name)] = "1"
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

/// Observes every event and does nothing.
private struct IdleListener: EventListener {}

/// Changes nothing.
private struct PassiveInterceptor: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    var interceptsRequests: Bool { false }
    var interceptsBody: Bool { false }
}
