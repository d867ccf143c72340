import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

/// Everything at once: replies and bodies of every kind, cancels at any moment, stacks that are made and released.
///
/// Runs for STORM seconds, a few if that is not set.
@Suite("A storm over a URLSession stack", .serialized)
struct StormTests {
    private static let seconds = ProcessInfo.processInfo.environment["STORM"].flatMap { Int($0) } ?? 3

    /// A server that answers, by path, in every way that does not crash the process.
    private static func server() throws -> ScriptedServer {
        var options = ScriptedServer.Options()
        options.recordLimit = 100
        return try ScriptedServer.responding(options) { request in
            let authorized = request["Authorization"] == "Basic " + Data("user:right".utf8).base64EncodedString()
            switch request.path {
            case "/small": return .ok("x")
            case "/big": return .ok(bytes: [UInt8](repeating: 1, count: 300_000))
            case "/chunked": return .chunked((0..<50).map { "piece \($0)" })
            case "/none": return .status(204)
            case "/error": return .status(500, "went wrong")
            case "/redirect": return .redirect(307, to: "/small")
            case "/nowhere": return Reply.raw("HTTP/1.1 302 X\r\nContent-Length: 2\r\n\r\nno")
            case "/circle": return .redirect(to: "/circle")
            case "/private":
                return authorized
                    ? .ok("in") : .status(401, "who", headers: [("WWW-Authenticate", "Basic realm=\"a\"")])
            case "/hints": return Reply.raw("HTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
            case "/reset": return .steps([.reset])
            case "/half": return Reply.raw("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nhalf").then(.reset)
            case "/shut": return .ok("x", headers: [("Connection", "close")]).then(.close)
            case "/silent":
                return .steps([
                    .pause(.milliseconds(Int64.random(in: 1...60))),
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
                ])
            case "/hang": return .steps([.waitForClose])
            case "/drip":
                return Reply.raw("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
                    .then(.drip("12345678901234567890", every: .milliseconds(2)))
            case "/garbage": return Reply.raw("garbage\r\n\r\n").then(.close)
            default: return .ok("\(request.bodyCount)")
            }
        }
    }

    private static let paths = [
        "/small", "/big", "/chunked", "/none", "/error", "/redirect", "/nowhere", "/circle", "/private", "/hints",
        "/reset", "/half", "/shut", "/silent", "/hang", "/drip", "/garbage", "/count",
    ]

    private static func request(_ server: ScriptedServer, file: String) throws -> URLRequest {
        let path = paths.randomElement() ?? "/small"
        let body: HTTP.Body
        switch Int.random(in: 0..<8) {
        case 0: body = .bytes(Data(count: Int.random(in: 1...200_000)))
        case 1: body = .file(path: file)
        case 2:
            let count = Int.random(in: 0...30)
            body = .stream(
                .init {
                    AsyncStream<Data> { continuation in
                        Task {
                            for _ in 0..<count {
                                if Int.random(in: 0..<5) == 0 { try? await Task.sleep(for: .microseconds(300)) }
                                continuation.yield(Data(count: 70_000))
                            }
                            continuation.finish()
                        }
                    }
                }
            )
        default: body = .none
        }
        let method: HTTP.Method = body.length == 0 ? [.GET, .HEAD, .DELETE, .POST].randomElement() ?? .GET : .PUT
        return try URLRequest(HTTP.Request(method: method, url: server.url(path), body: body))
    }

    private static func stack() throws -> Stack {
        let handler = ClosureHandler { challenge, answer in
            let credential = URLCredential(user: "user", password: "right", persistence: .none)
            switch Int.random(in: 0..<4) {
            case 0: answer(.performDefaultHandling, nil)
            case 1: DispatchQueue.global().async { answer(.useCredential, credential) }
            case 2:
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.005) {
                    answer(.useCredential, credential)
                    answer(.useCredential, credential)
                }
            default: answer(challenge.previousFailureCount == 0 ? .useCredential : .rejectProtectionSpace, credential)
            }
        }
        if Int.random(in: 0..<3) == 0 {
            let configuration = URLSessionConfiguration.default
            configuration.httpMaximumConnectionsPerHost = Int.random(in: 1...8)
            return Stack.injected(handler: handler, configuration: configuration)
        }
        var configuration = Network.Configuration()
        configuration.connections.perHost = Int.random(in: 1...10)
        configuration.options.timeouts.total = .seconds(5)
        configuration.options.timeouts.idle = .milliseconds(Int64.random(in: 30...400))
        if Bool.random() { configuration.options.timeouts.queue = .milliseconds(Int64.random(in: 1...50)) }
        if Bool.random() { configuration.options.limits.body = 100_000 }
        return try Stack(configuration: configuration, authenticationChallengeHandler: handler)
    }

    private static func files() -> Set<String> {
        let names = try? FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
        return Set((names ?? []).filter { $0.hasPrefix("network-stack-") })
    }

    @Test("ends every fetch once and leaves nothing behind")
    func storm() async throws {
        let server = try Self.server()
        let folder = try TemporaryDirectory("storm")
        let file = folder.file("content")
        try Data(count: 400_000).write(to: URL(fileURLWithPath: file))
        let before = (Self.files(), ProcessProbe.openFileDescriptors())
        let end = ContinuousClock.now + .seconds(Self.seconds)
        let (begun, ended, twice) = (Lock(0), Lock(0), Lock(0))
        var round = 0
        while ContinuousClock.now < end {
            round += 1
            let shutsDown = round % 3 == 0
            let network = try Self.stack()
            await withTaskGroup { group in
                for lane in 0..<24 {
                    group.addTask {
                        for _ in 0..<6 {
                            guard let request = try? Self.request(server, file: file) else { continue }
                            let making = Stack.Resource(baseRequestMaking: .init { $0(.success(request)) })
                            let (done, count) = (Gate(), Lock(0))
                            begun.withLock { $0 += 1 }
                            let finish: @Sendable () -> Void = {
                                count.withLock { $0 += 1 }
                                if count.withLock({ $0 }) > 1 { twice.withLock { $0 += 1 } }
                                ended.withLock { $0 += 1 }
                                done.open()
                            }
                            let fetching: any Cancelable
                            switch Int.random(in: 0..<4) {
                            case 0:
                                fetching = network.streaming.fetch(resource: making) { result in
                                    guard case .success(let fetched) = result else { return finish() }
                                    let mode = Int.random(in: 0..<3)
                                    Task {
                                        if mode == 0 { return finish() }
                                        do {
                                            for try await chunk in fetched.value {
                                                if mode == 1, !chunk.isEmpty {
                                                    try await Task.sleep(for: .milliseconds(1))
                                                }
                                            }
                                            finish()
                                        } catch { finish() }
                                    }
                                }
                            case 1:
                                let path = folder.file("download-\(lane)")
                                fetching = network.downloads(to: path).fetch(resource: making) { _ in
                                    finish()
                                }
                            default:
                                fetching = network.fetch(resource: making) { _ in finish() }
                            }
                            switch Int.random(in: 0..<3) {
                            case 0: fetching.cancel()
                            case 1:
                                try? await Task.sleep(for: .microseconds(Int.random(in: 0...8000)))
                                fetching.cancel()
                            default: DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { fetching.cancel() }
                            }
                            if Int.random(in: 0..<3) > 0 {
                                do { try await done.opened() } catch { Issue.record("\(request) hangs: \(error)") }
                            }
                        }
                    }
                }
                group.addTask {
                    if shutsDown {
                        try? await Task.sleep(for: .milliseconds(Int.random(in: 0...300)))
                        await network.shutdown()
                    }
                }
            }
            network.finishFetchesAndInvalidateSession()
        }
        #expect(try await eventually(within: .seconds(30)) { begun.withLock { $0 } == ended.withLock { $0 } })
        #expect(twice.withLock { $0 } == 0)
        #expect(try await eventually { Self.files().subtracting(before.0).isEmpty })
        server.stop()
        #expect(try await eventually(within: .seconds(20)) { ProcessProbe.openFileDescriptors() <= before.1 + 16 })
    }
}
