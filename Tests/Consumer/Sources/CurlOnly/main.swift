// A program that imports CurlStack only: a fetch from a closed port ends in a typed error.
import CurlStack
import FoundationEssentials
import NetworkStack

guard let nobody = URL(string: "http://127.0.0.1:1/") else { fatalError("The URL is one.") }
let stack = try Network.CurlNetworkStack()
let request = HTTP.Request(method: .GET, url: nobody)
do {
    _ = try await stack.fetch(resource: HTTPResource(baseRequestMaking: .request(request)))
    fatalError("Somebody listens on port 1.")
} catch {
    guard case .transport(let refused, _) = error else { fatalError("Expected a transport error, not \(error).") }
    print("CurlStack says: \(refused)")
}
await stack.shutdown()
