// A program that imports URLSessionStack only: a fetch from a closed port ends in a typed error.
import Foundation
import NetworkStack
import URLSessionStack

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

guard let closedPort = URL(string: "http://127.0.0.1:1/") else { fatalError("The URL is invalid.") }
let stack = try Network.URLSessionNetworkStack(configuration: .init())
let request = HTTP.Request(method: .GET, url: closedPort)
do {
    _ = try await stack.fetch(resource: HTTPResource(baseRequestMaking: .request(request)))
    fatalError("A program listens on port 1.")
} catch {
    guard case .transport(let refused, _) = error else { fatalError("Expected a transport error, not \(error).") }
    print("URLSessionStack: \(refused)")
}
