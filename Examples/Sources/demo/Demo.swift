import CurlStack
import Foundation
import NetworkStack
import NetworkStackTesting
import URLSessionStack

/// The same app on both backends, side by side, against an nginx on this machine.
@main
enum Demo {
    static func main() async {
        do { try await run() } catch {
            print("\nThe demo failed: \(error)")
            exit(1)
        }
    }

    private static func run() async throws {
        let nginx = try NginxServer()
        try await nginx.start()
        defer { nginx.stop() }
        let servers = try PinnedServers()
        // The backend is chosen here; the app does not know it.
        let curl = Tour(App(stack: try Network.CurlNetworkStack(), server: nginx.httpURL("/")), servers) {
            try Network.CurlNetworkStack(configuration: $0)
        }
        let session = Tour(
            App(stack: try Network.URLSessionNetworkStack(configuration: .init()), server: nginx.httpURL("/")),
            servers
        ) {
            try Network.URLSessionNetworkStack(configuration: $0)
        }
        print("One app, Examples/Sources/demo/App.swift, on two backends (libcurl \(CurlLibrary.shared.version))")
        show("", "CurlStack", "URLSessionStack")
        for step in Step.allCases {
            if let code = step.code { print(code) }
            show(
                step.label,
                try await run(step, on: curl, "CurlStack"),
                try await run(step, on: session, "URLSessionStack")
            )
        }
    }

    private static func run<Stack>(_ step: Step, on tour: Tour<Stack>, _ name: String) async throws -> String {
        do { return try await tour.run(step) } catch { throw Surprise("\(name), \(step.label): \(error)") }
    }

    private static func show(_ label: String, _ left: String, _ right: String) {
        let cells = zip(["  " + label, left], [28, 26]).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
        print(cells.joined() + right)
    }
}
