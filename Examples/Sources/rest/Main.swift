import ExampleSupport
import Foundation
import NetworkStack
import NetworkStackTesting

/// A resource of a REST service, fetched, changed and missed on both stacks.
@main
enum Main {
    struct Note: Codable, Equatable {
        var id: Int
        var text: String
    }

    static func main() async {
        await example("rest") {
            let server = try ScriptedServer.responding(with: answer)
            guard let url = URL(string: server.url("/notes/7")) else { throw Surprise("no URL") }
            let stacks = try Backends.both()
            try await tour(stacks.curl, url)
            try await tour(stacks.urlSession, url)
        }
    }

    /// Reads a note, replaces it, and asks for one that is not there.
    private static func tour<Stack: HTTPNetworkStack<Data>>(_ network: Stack, _ url: URL) async throws {
        let note = RESTResource<Note>(url: url, query: [URLQueryItem(name: "full", value: "yes")])
        var model = try await network.fetchAndDecode(resource: note.resource(), decoding: note.decoding()).value
        print("  read: \(model)")

        model.text = "changed"
        let change = RESTResource(url: url, method: .PUT, model: model)
        let changed = try await network.fetchAndDecode(resource: change.resource(), decoding: change.decoding()).value
        try expect(changed == model, "the server has \(changed)")
        print("  replaced: \(changed)")

        let missing = RESTResource<Note>(url: url.deletingLastPathComponent().appending(path: "8"))
        do {
            _ = try await network.fetch(resource: missing.resource())
            throw Surprise("there is a note 8")
        } catch let error as Stack.FetchError {
            guard case .http(.notFound, let apiError as APIError, _) = error, case .generic(let message) = apiError
            else { throw error }
            print("  missing: \(message)")
        }
    }

    private static func answer(_ request: ReceivedRequest) -> Reply {
        switch (request.method, request.target) {
        case ("GET", "/notes/7?full=yes"): .json(#"{"id":7,"text":"first"}"#)
        case ("PUT", "/notes/7") where request["content-type"] == "application/json": .json(request.text)
        default: .status(404, #"{"message":"There is no such note."}"#)
        }
    }
}
