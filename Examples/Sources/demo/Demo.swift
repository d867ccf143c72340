import CurlStack
import Foundation
import NetworkStack
import NetworkStackTesting
import URLSessionStack

/// The same app on both stacks, against an nginx of its own, ending in a table of both.
@main
enum Demo {
    static func main() async {
        let arguments = Set(CommandLine.arguments.dropFirst())
        guard arguments.isSubset(of: ["--kill-nginx"]) else {
            print(
                "usage: demo [--kill-nginx]\n  --kill-nginx  kill the server before the second stack, to see what happens"
            )
            exit(2)
        }
        do {
            try await run(kills: arguments.contains("--kill-nginx"))
        } catch {
            print("\nThe demo failed: \(error)")
            exit(1)
        }
    }

    private static func run(kills: Bool) async throws {
        let nginx = try NginxServer()
        try await nginx.start()
        guard let baseURL = URL(string: nginx.httpURL("/")) else { throw Surprise("nginx has no URL") }
        let api = DemoAPI(baseURL: baseURL)
        print("nginx listens at \(baseURL)")

        do {
            print("\nCurlStack (\(CurlLibrary.shared))")
            var curl = Tour(name: "CurlStack")
            // The backend is chosen here, at one line; the app does not know.
            try await curl.take(App(stack: try Network.CurlNetworkStack(), api: api))
            if kills { nginx.stop() }
            print("\nURLSessionStack")
            var urlSession = Tour(name: "URLSessionStack")
            try await urlSession.take(App(stack: try Network.URLSessionNetworkStack(configuration: .init()), api: api))
            printTable(curl.notes, urlSession.notes)
        } catch {
            if await !answers(baseURL) {
                throw Surprise("nginx no longer answers at \(baseURL); it was killed or has crashed.\n(\(error))")
            }
            throw error
        }
        nginx.stop()
    }

    /// Asks the server once more, with a stack that is not suspected of anything.
    private static func answers(_ url: URL) async -> Bool {
        guard let stack = try? Network.CurlNetworkStack() else { return true }
        let resource = Network.CurlResource(baseRequestMaking: .request(HTTP.Request(url: url.appending(path: "json"))))
        return (try? await stack.fetch(resource: resource)) != nil
    }

    private static func printTable(_ left: [Tour.Note], _ right: [Tour.Note]) {
        let rows = [["", "CurlStack", "URLSessionStack"]] + zip(left, right).map { [$0.what, $0.outcome, $1.outcome] }
        let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
        print("")
        for (index, row) in rows.enumerated() {
            let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            print("| " + cells.joined(separator: " | ") + " |")
            if index == 0 {
                print("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|")
            }
        }
    }
}
