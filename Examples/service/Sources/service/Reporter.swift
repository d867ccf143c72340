import Dispatch
import Foundation
import NetworkStack
import ServiceLifecycle
import Tracing

/// Sends reports to a server, and does not wait for the answer to the last.
struct Reporter<Stack: HTTPNetworkStack<Data>>: Service, CustomStringConvertible {
    let stack: Stack
    let server: String
    let tracer: any Tracer
    /// The fetches whose completion has not returned.
    private let running = DispatchGroup()

    init(stack: Stack, server: String, tracer: any Tracer) {
        (self.stack, self.server, self.tracer) = (stack, server, tracer)
    }

    var description: String { "Reporter" }

    func run() async throws {
        try await tracer.withSpan("reports") { _ in
            try await stack.send(report("/report?token=s3cret"))
            let last = Stack.Resource(baseRequestMaking: .request(try report("/last").request()))
            running.enter()
            stack.fetch(resource: last) { result in
                defer { running.leave() }
                switch result {
                case .success(let answer): show("last report: \(String(decoding: answer.value, as: UTF8.self))")
                case .failure(let error): show("last report: \(error.caseName)")
                }
            }
        }
        try await gracefulShutdown()
        show("no more reports")
    }

    /// Waits for the completions. Some may be queued when the stack has shut down.
    func finish() async {
        await withCheckedContinuation { finished in running.notify(queue: .global()) { finished.resume() } }
    }

    /// Prints a line at once, also into a pipe.
    private func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    private func report(_ path: String) -> HTTP.RequestBuilder {
        .post(server + path, body: .bytes(Data("report".utf8))).bearer("s3cret")
    }
}
