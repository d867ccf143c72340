import ExampleSupport
import Foundation
import NetworkStack
import NetworkStackTesting

/// Typed requests, mapped answers, an upload, and one refresh of a token for any number of requests.
@main
enum Main {
    static func main() async {
        await example("accounts") {
            let server = try Server.scripted.get()
            let picture = FileManager.default.temporaryDirectory.appending(path: "picture-\(UUID().uuidString).png")
            try Data(repeating: 0x89, count: 100_000).write(to: picture)
            defer { try? FileManager.default.removeItem(at: picture) }
            for name in ["CurlStack", "URLSessionStack"] {
                print("  on \(name)")
                let before = server.requests.count { $0.path == "/token" }
                let stacks = try Backends.both(configuration(try HTTP.Origin(of: HTTP.Host.accounts.url(.http))))
                if name == "CurlStack" {
                    try await tour(AccountClient(stack: stacks.curl), picture.path)
                } else {
                    try await tour(AccountClient(stack: stacks.urlSession), picture.path)
                }
                let tokens = server.requests.count { $0.path == "/token" } - before
                try expect(tokens == 1, "the token was refreshed \(tokens) times")
                print("    one refresh for all of them")
            }
        }
    }

    /// The settings every request shares: 20 s without a byte, 40 s in all, ten connections, JSON, and one token.
    private static func configuration(_ origin: HTTP.Origin) throws -> Network.Configuration {
        var configuration = Network.Configuration.api(headers: ["X-App": "accounts"])
        // A stack of its own fetches tokens here; the authenticator could as well use the one it authenticates.
        let tokens = try Backends.both().curl
        configuration.interceptors = [
            TokenAuthenticator(origins: [origin], store: MemoryTokenStore(AccessToken("expired"))) { _ in
                let request = try HTTP.Endpoint(
                    method: .POST,
                    scheme: .http,
                    host: .accounts,
                    path: "/token",
                    content: .form(["grant_type": "refresh_token", "refresh_token": "r"])
                )
                struct Answer: Decodable { let access_token: String }
                let answer = try await tokens.fetchAndDecode(
                    resource: .init(baseRequestMaking: .endpoint(request)),
                    decoding: .json(Answer.self)
                )
                return AccessToken(answer.value.access_token)
            }
        ]
        return configuration
    }

    private static func tour<Stack>(_ client: AccountClient<Stack>, _ picture: String) async throws {
        // Fifty requests at once find out that the token has expired.
        let users = try await withThrowingTaskGroup(of: User.self) { group in
            for number in 0..<50 {
                group.addTask { try await client.execute(UserRequest(tenant: "a/b", id: "\(number)")) }
            }
            return try await group.reduce(into: [User]()) { $0.append($1) }
        }
        try expect(Set(users.map(\.id)).count == 50, "\(users.count) users came")
        print("    \(users.count) users")

        let receipt = try await client.execute(PictureUpload(id: "7", caption: "It's \"me\"", file: picture))
        try expect(receipt.bytes > 100_000, "\(receipt.bytes) bytes arrived")
        print("    a picture in a form of \(receipt.bytes) bytes")

        do {
            _ = try await client.execute(UserRequest(tenant: "a/b", id: "nobody"))
            throw Surprise("nobody is somebody")
        } catch FetchAndDecodeError<Stack.FetchError>.fetch(.http(.notFound, let error as ServerError, _)) {
            print("    \(error.reason)")
        }

        do {
            _ = try await client.execute(UserRequest(tenant: "..", id: "1"))
            throw Surprise("a path was left")
        } catch FetchAndDecodeError<Stack.FetchError>.fetch(.noRequest(let refusal)) {
            print("    \(refusal)")
        }
    }
}

/// The server of the example.
enum Server {
    static let scripted = Result { try ScriptedServer.responding(with: answer) }

    /// Where it is; an app has its server's name here.
    static var host: HTTP.Host {
        guard let server = try? scripted.get() else { return "" }
        return HTTP.Host("127.0.0.1", port: Int(server.port))
    }

    @Sendable
    private static func answer(_ request: ReceivedRequest) -> Reply {
        if request.path == "/token" {
            return request.text == "grant_type=refresh_token&refresh_token=r"
                ? .json(#"{"access_token":"valid"}"#) : .status(400)
        }
        guard request["x-app"] == "accounts" else { return .status(400, #"{"code":1,"reason":"Who are you?"}"#) }
        guard request["authorization"] == "Bearer valid" else { return .status(401) }
        let segments = request.path.split(separator: "/")
        switch (request.method, segments.dropLast().joined(separator: "/"), segments.last ?? "") {
        case (_, _, "nobody"): return .status(404, #"{"code":7,"reason":"There is no such user."}"#)
        case ("GET", "v1.0/a%2Fb/users", let id):
            return .json(#"{"id":"\#(id)","name":"User \#(id)","since":"2026-01-01T00:00:00Z"}"#)
        case ("POST", "v1.0/pictures", _): return .status(201, #"{"bytes":\#(request.bodyCount)}"#)
        default: return .status(500)
        }
    }
}
