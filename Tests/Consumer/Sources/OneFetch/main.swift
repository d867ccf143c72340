// A program that makes a stack, fetches the URLs of its arguments, one after the other, and shuts the stack down.
import CurlStack
import NetworkStack

let stack = try Network.CurlNetworkStack()
for url in CommandLine.arguments.dropFirst() {
    let request = try HTTP.Request(url: url)
    let fetched = try await stack.fetch(resource: HTTPResource(baseRequestMaking: .request(request)))
    print("\(fetched.response.status), \(fetched.value.count) bytes")
}
await stack.shutdown()
