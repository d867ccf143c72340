import Foundation

@main
enum Main {
    static func main() async throws {
        guard CommandLine.arguments.count >= 2, let base = URL(string: CommandLine.arguments[1]) else {
            print("usage: mirror URL [--cancel]")
            return
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mirror-\(UInt32.random(in: 0...9999))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let mirror = try Mirror(base: base, token: "secret", folder: folder)
        let report = try await mirror.run(atOnce: 4)
        print("mirrored \(report.mirrored), failed \(report.failed)")
        print("upload answered \(try await mirror.upload(folder.appendingPathComponent(report.mirrored[0])))")
        print("log: \(try await mirror.log(lines: 2))")
        do {
            _ = try await Mirror(base: URL(string: "http://127.0.0.1:9")!, token: "", folder: folder).packages()
        } catch Mirror.Failure.unreachable(let host) {
            print("nothing listens at \(host)")
        }
        // On Linux with Foundation 6.3 this cancel ends the process in FoundationNetworking in most runs.
        guard CommandLine.arguments.contains("--cancel") else { return }
        let slow = Task { try await mirror.log(lines: 1) }
        slow.cancel()
        if case .failure(let error) = await slow.result { print("cancelled: \(error is CancellationError)") }
    }
}
