import CurlStack
import Foundation
import NetworkStack

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
    case timedOut
    case unreachable(String)
}

/// Mirrors the packages of an index, as a service on AsyncHTTPClient would.
struct Mirror: Sendable {
    let base: String
    let token: String
    let client: Network.CurlNetworkStack
    let folder: String

    private func request(_ path: String, method: HTTP.Method = .GET) -> HTTP.RequestBuilder {
        HTTP.RequestBuilder(method, base + path).bearer(token).header("Accept", "application/json")
    }

    private func send(_ request: HTTP.RequestBuilder) async throws -> (body: ByteStream<Network.CurlFetchError>, response: HTTP.Response) {
        let (body, response): (ByteStream<Network.CurlFetchError>, HTTP.Response)
        do {
            (body, response) = try await client.stream(for: request, options: { $0.timeouts.total = .seconds(20) })
        } catch let error as any HTTPError where error.isTimeout {
            throw Failure.timedOut
        } catch let error as any HTTPError where [.dns, .connect].contains(error.transportFailure) {
            throw Failure.unreachable(base)
        }
        guard (200..<300).contains(response.status.rawValue) else {
            let body = try await body.collect(upTo: 1 << 20)
            throw Failure.status(response.status.rawValue, String(decoding: body, as: UTF8.self))
        }
        return (body, response)
    }

    func packages() async throws -> [Package] {
        var all: [Package] = []
        var page = 1
        while true {
            let (body, response) = try await send(request("/packages?page=\(page)"))
            let data = try await body.collect(upTo: 16 << 20)
            all += try JSONDecoder().decode([Package].self, from: data)
            guard response.headers["X-Next-Page"] != nil else { return all }
            page += 1
        }
    }

    /// Streams one package into the folder.
    func download(_ package: Package) async throws -> Int {
        let (body, _) = try await send(request("/" + package.path))
        let target = folder + "/" + package.name
        guard FileManager.default.createFile(atPath: target, contents: nil), let file = FileHandle(forWritingAtPath: target) else {
            throw Failure.status(0, target)
        }
        defer { try? file.close() }
        var size = 0
        for try await buffer in body {
            size += buffer.count
            try file.write(contentsOf: buffer)
        }
        return size
    }

    func report(_ report: Report) async throws {
        _ = try await send(request("/reports", method: .POST).json(report)).body.collect(upTo: 1 << 20)
    }

    /// The first lines of the index's log; the rest is not read.
    func log(lines count: Int) async throws -> [String] {
        let (body, _) = try await send(request("/log"))
        var lines: [String] = []
        var rest = ""
        for try await buffer in body {
            rest += String(decoding: buffer, as: UTF8.self)
            while let end = rest.firstIndex(of: "\n"), lines.count < count {
                lines.append(String(rest[..<end]))
                rest = String(rest[rest.index(after: end)...])
            }
            if lines.count == count { break }
        }
        return lines
    }

    func run(atOnce width: Int) async throws -> Report {
        let wanted = try await packages()
        var mirrored: [String] = []
        var failed: [String] = []
        await withTaskGroup(of: (String, Bool).self) { group in
            var waiting = wanted[...]
            for _ in 0..<width { if let next = waiting.popFirst() { group.addTask { await attempt(next) } } }
            while let (name, isDone) = await group.next() {
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
            return (package.name, try await download(package) == package.size)
        } catch {
            print("\(package.name): \(error)")
            return (package.name, false)
        }
    }
}

@main
enum Main {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else { return print("usage: mirror URL") }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mirror-\(UInt32.random(in: 0...9999))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = Network.Configuration()
        configuration.connections.perHost = 8
        let client = try Network.CurlNetworkStack(configuration: configuration)
        do {
            let mirror = Mirror(base: CommandLine.arguments[1], token: "secret", client: client, folder: folder.path)
            let report = try await mirror.run(atOnce: 4)
            print("mirrored \(report.mirrored), failed \(report.failed)")
            print("log: \(try await mirror.log(lines: 2))")
            do {
                _ = try await Mirror(base: "http://127.0.0.1:9", token: "", client: client, folder: folder.path).packages()
            } catch Failure.unreachable(let host) {
                print("nothing listens at \(host)")
            }
            let slow = Task { try await mirror.log(lines: 1) }
            slow.cancel()
            if case .failure(let error) = await slow.result { print("cancelled: \(error)") }
        } catch {
            print("failed: \(error)")
        }
        await client.shutdown()
    }
}
