// A program that imports one product, NetworkStack: the vocabulary of HTTP, without a backend.
import FoundationEssentials
import NetworkStack

guard let url = URL(string: "https://example.org/") else { fatalError("The URL is invalid.") }
var request = HTTP.Request(method: .GET, url: url)
request.headers["Accept"] = "application/json"
guard request.headers["accept"] == "application/json" else { fatalError("Header names must ignore case.") }
print("NetworkStack: \(request.method) \(request.url)")
