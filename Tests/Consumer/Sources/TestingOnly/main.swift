// A program that imports one product, NetworkStackTesting: a stub of a stack answers a fetch.
import NetworkStack
import NetworkStackTesting

struct Unreachable: Error {}

let stub = StubNetworkStack<String, Int, Void, Void, Unreachable>(cancelled: Unreachable()) { key in
    .success(.init(value: key.count, response: ()))
}
let fetched = try await stub.fetch(resource: "four")
guard fetched.value == 4, stub.resources == ["four"] else { fatalError("The stub answered \(fetched.value).") }
print("NetworkStackTesting: \(fetched.value)")
