import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Requests as command lines, run by a shell with the installed curl.
    static let curlCommands: [ConformanceCheck] = [
        ConformanceCheck("curl with the exported command sends what the stack sends", needs: [.network]) {
            subject in
            let folder = try TemporaryDirectory("curl command")
            let file = folder.file("it's a file")
            try Data("from a file\n".utf8).write(to: URL(filePath: file))
            let server = try ScriptedServer.responding { _ in .ok("x") }
            let stack = try subject.stack()
            let anyMethod = subject.capabilities.supports(.bodyWithAnyMethod)
            for (number, request) in try requests(to: server, file: file).enumerated() {
                if request.method == .GET, !anyMethod, case .bytes = request.body { continue }
                let before = server.requests.count
                _ = try await stack.observe(.init(baseRequestMaking: .request(request))).onlyOutcome()
                let command = try request.curlCommand(redacting: nil)
                let script = folder.file("script")
                try Data("\(command) --silent\n".utf8).write(to: URL(filePath: script))
                try Program(path: "/bin/sh").run([script])
                let seen = Array(server.requests[before...])
                try expectEqual(seen.count, 2, "requests on the wire of \(command)")
                try expectEqual(sent(seen[1]), sent(seen[0]), "what curl sent in request \(number): \(command)")
            }
        },
        ConformanceCheck("An exported command shows no secret unless requested") { _ in
            let request = try HTTP.Request(
                url: "http://user:s3cret@a.test/?q=1",
                headers: [.cookie: "s3cret", "X-Key": "s3cret", .accept: "*/*"]
            )
            let command = try request.curlCommand(redacting: .init(headers: ["x-key"]))
            try expect(!command.contains("s3cret") && !command.contains("dXNlcjpzM2NyZXQ"), command)
            try expect(command.hasSuffix("'http://a.test/?q=1'"), command)
            let open = try request.curlCommand(redacting: nil)
            try expect(open.contains("Basic dXNlcjpzM2NyZXQ="), open)
        },
    ]

    /// The request that was sent, without the fields that each client adds.
    private static func sent(_ request: ReceivedRequest) -> [String] {
        let own: Set = ["user-agent", "accept-encoding", "accept", "connection"]
        let fields = request.headers.filter { field in
            !own.contains(field.name.lowercased()) || field.value.hasPrefix("own")
        }
        return ["\(request.method) \(request.target)"] + fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
            + [String(decoding: request.body, as: UTF8.self), "\(request.body)"]
    }

    private static func requests(to server: ScriptedServer, file: String) throws -> [HTTP.Request] {
        let nasty = #"it's "quoted" $HOME `id` \n \\ !! %s * ? [a] {b} ~ ; & | < > # é 😀 '́ '‍ '️; touch x #"#
        return try [
            .init(url: server.url("/")),
            .init(url: server.url("/a/../b/%2F?x={1,2}&y=[1-3]&z='$HOME'#fragment".percentFixed)),
            .init(method: .HEAD, url: server.url("/")),
            .init(method: .DELETE, url: server.url("/")),
            .init(method: .OPTIONS, url: server.url("/")),
            .init(method: .POST, url: server.url("/")),
            .init(method: .PUT, url: server.url("/"), body: .bytes(Data("x".utf8))),
            .init(
                url: server.url("/"),
                headers: ["X-Nasty": nasty, "X-Empty": "", .userAgent: "own agent", .accept: "own/*"]
            ),
            .init(
                method: .POST,
                url: server.url("/"),
                headers: [.contentType: "text/plain"],
                body: .bytes(Data(nasty.utf8))
            ),
            .init(method: .POST, url: server.url("/"), body: .bytes(Data("@/etc/passwd\nline\r\n'".utf8))),
            .init(method: .POST, url: server.url("/"), body: .bytes(Data((0...255).map { UInt8($0) }))),
            .init(method: "PATCH", url: server.url("/"), body: .bytes(Data(repeating: 0x25, count: 120_000))),
            .init(method: .POST, url: server.url("/"), body: .file(path: file)),
            .init(method: .GET, url: server.url("/"), body: .bytes(Data("with a GET".utf8))),
            .init(method: .POST, url: server.url("/", host: "user:pa'ss@127.0.0.1".percentFixed)),
        ]
    }
}

extension String {
    /// The text with illegal characters of a URL escaped.
    fileprivate var percentFixed: String {
        reduce(into: "") { text, character in
            switch character {
            case "{": text += "%7B"
            case "}": text += "%7D"
            case "[": text += "%5B"
            case "]": text += "%5D"
            default: text.append(character)
            }
        }
    }
}
