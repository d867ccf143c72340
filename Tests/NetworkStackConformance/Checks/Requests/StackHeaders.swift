import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Header fields of the whole stack.
    static let sessionHeaders: [ConformanceCheck] = [
        ConformanceCheck("The stack's headers go with every request that does not replace them") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client { configuration in
                configuration.headers = ["X-App": "one", "Accept": "text/plain"]
                configuration.headers.append("two", for: "x-app")
            }
            _ = try await client.get(peer.url("/"))
            _ = try await client.get(peer.url("/"), headers: ["x-APP": "own", "X-Other": "o"])
            let requests = peer.requests()
            try expectEqual(requests[0].values(of: "X-App").joined(separator: ", "), "one, two", "X-App")
            try expectEqual(requests[0].values(of: "Accept"), ["text/plain"], "Accept")
            try expectEqual(requests[1].values(of: "X-App"), ["own"], "X-App")
            try expectEqual(requests[1].values(of: "X-Other"), ["o"], "X-Other")
        },
        ConformanceCheck("A resource can omit the stack's headers") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client { $0.headers = ["X-App": "one"] }
            var options = HTTP.Options()
            options.usesSessionHeaders = false
            _ = try await client.success(HTTP.Request(url: peer.url("/"), headers: ["X-Own": "o"]), options: options)
            let request = try peer.onlyRequest()
            try expectEqual(request.values(of: "X-App"), [], "X-App")
            try expectEqual(request.values(of: "X-Own"), ["o"], "X-Own")
        },
        ConformanceCheck("The stack's Content-Type goes only with a body") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = BoundedClient(stack: try subject.make(.api()))
            _ = try await client.get(peer.url("/"))
            _ = try await client.success(
                HTTP.Request(method: .POST, url: peer.url("/"), body: .bytes(Data("{}".utf8)))
            )
            try expectEqual(peer.requests()[0].values(of: "Content-Type"), [], "Content-Type without a body")
            try expectEqual(peer.requests()[1].values(of: "Content-Type"), ["application/json"], "Content-Type")
        },
        ConformanceCheck("The stack's secrets stay dropped after a redirect to another origin") { subject in
            let target = try subject.serve { _ in .ok("there") }
            let peer = try subject.serve { _ in .redirect(302, to: target.url("/")) }
            let client = try subject.client { configuration in
                configuration.headers = ["Authorization": "Bearer t", "X-Key": "k", "X-App": "one"]
                configuration.sensitiveHeaders = ["X-Key"]
            }
            _ = try await client.get(peer.url("/"))
            try expectEqual(peer.onlyRequest().values(of: "Authorization"), ["Bearer t"], "Authorization")
            for name in ["Authorization", "X-Key"] { try expectEqual(target.onlyRequest().values(of: name), [], name) }
            try expectEqual(target.onlyRequest().values(of: "X-App"), ["one"], "X-App")
        },
        ConformanceCheck("Illegal stack headers are refused with the configuration") { subject in
            for headers in [
                ["a b": "c"], ["X-A": "b\r\nEvil: yes"], ["Content-Length": "3"], ["Transfer-Encoding": "chunked"],
                ["Host": "h.test"], ["Upgrade": "websocket"], ["Connection": "close"],
            ] as [HTTP.Headers] {
                var configuration = Network.Configuration()
                configuration.headers = headers
                do {
                    _ = try subject.make(configuration)
                    throw ConformanceFailure("A stack was made with \(headers)")
                } catch Network.ConfigurationError.invalid {}
            }
        },
    ]
}
