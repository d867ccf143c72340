import CurlStack
import Foundation
import NetworkStack
import URLSessionStack
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Mirrors the packages of an index: reads the list, downloads what is new, reports what it did, follows the index's events.
struct Mirror: Sendable {
    struct Package: Codable, Sendable {
        let name: String
        let path: String
        let size: Int
    }

    struct Report: Codable, Sendable {
        let mirrored: [String]
        let failed: [String]
    }

    enum Failure: Error {
        case status(Int, String)
        case notHTTP
        case timedOut
        case unreachable(String)
    }

    let base: URL
    let token: String
    let session: Network.CurlNetworkStack
    let folder: URL

    init(base: URL, token: String, folder: URL) throws {
        self.base = base
        self.token = token
        self.folder = folder
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 20
        configuration.httpMaximumConnectionsPerHost = 8
        configuration.httpAdditionalHeaders = ["User-Agent": "mirror/1.0"]
        session = try Network.CurlNetworkStack(configuration: .init(configuration))
    }

    // MARK: Requests

    private func request(_ path: String, method: String = "GET") -> URLRequest {
        var request = URLRequest(url: base.appendingPathComponent(path))
        request.httpMethod = method
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        return request
    }

    /// Sends a request and maps what can go wrong.
    private func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response): (Data, URLResponse)
        do {
            (data, response) = try await session.data(for: request)
        } catch let error as URLError {
            switch error.code {
            case .timedOut: throw Failure.timedOut
            case .cannotFindHost, .cannotConnectToHost: throw Failure.unreachable(base.host ?? "?")
            case .cancelled: throw CancellationError()
            default: throw error
            }
        }
        guard let http = response as? HTTPURLResponse else { throw Failure.notHTTP }
        guard (200..<300).contains(http.statusCode) else {
            throw Failure.status(http.statusCode, String(decoding: data.prefix(200), as: UTF8.self))
        }
        return (data, http)
    }

    /// The packages of the index, page by page.
    func packages() async throws -> [Package] {
        var all: [Package] = []
        var page = 1
        while true {
            var request = request("packages")
            var components = URLComponents(url: request.url!, resolvingAgainstBaseURL: false)!
            components.queryItems = [URLQueryItem(name: "page", value: String(page))]
            request.url = components.url
            let (data, response) = try await send(request)
            all += try JSONDecoder().decode([Package].self, from: data)
            guard response.value(forHTTPHeaderField: "X-Next-Page") != nil else { return all }
            page += 1
        }
    }

    /// Downloads one package into the folder.
    func download(_ package: Package) async throws -> URL {
        let (temporary, response) = try await session.download(for: request(package.path))
        guard let http = response as? HTTPURLResponse, http.statusCode == 200 else {
            throw Failure.status((response as? HTTPURLResponse)?.statusCode ?? 0, package.name)
        }
        let target = folder.appendingPathComponent(package.name)
        try? FileManager.default.removeItem(at: target)
        try FileManager.default.moveItem(at: temporary, to: target)
        return target
    }

    /// Tells the index what was done.
    func report(_ report: Report) async throws {
        var request = request("reports", method: "POST")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(report)
        _ = try await send(request)
    }

    /// Sends a file to the index.
    func upload(_ file: URL) async throws -> Int {
        var request = request("files/\(file.lastPathComponent)", method: "PUT")
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        let (_, response) = try await session.upload(for: request, fromFile: file)
        return (response as? HTTPURLResponse)?.statusCode ?? 0
    }

    /// The first lines of the index's log. (`bytes(for:)` does not exist on Linux, so the whole log is read.)
    func log(lines: Int) async throws -> [String] {
        let (data, _) = try await send(request("log"))
        return String(decoding: data, as: UTF8.self).split(separator: "\n").prefix(lines).map(String.init)
    }

    // MARK: The work

    func run(atOnce width: Int) async throws -> Report {
        let wanted = try await packages()
        var mirrored: [String] = []
        var failed: [String] = []
        try await withThrowingTaskGroup(of: (String, Bool).self) { group in
            var waiting = wanted[...]
            for _ in 0..<width { if let next = waiting.popFirst() { group.addTask { await attempt(next) } } }
            while let (name, isDone) = try await group.next() {
                if isDone { mirrored.append(name) } else { failed.append(name) }
                if let next = waiting.popFirst() { group.addTask { await attempt(next) } }
            }
        }
        let report = Report(mirrored: mirrored.sorted(), failed: failed.sorted())
        try await self.report(report)
        return report
    }

    private func attempt(_ package: Package) async -> (String, Bool) {
        do {
            let file = try await download(package)
            let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
            return (package.name, size == package.size)
        } catch {
            print("\(package.name): \(error)")
            return (package.name, false)
        }
    }
}
