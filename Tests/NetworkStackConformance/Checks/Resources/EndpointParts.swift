import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Endpoints by their parts: path parameters, hosts, bodies with a media type, mappers.
    static let endpointParts: [ConformanceCheck] = [
        ConformanceCheck("Path parameters arrive escaped, each in one segment") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let endpoint = HTTP.Endpoint(
                baseURL: try base(peer),
                path: "/customers/{id}/orders/{order}",
                pathParameters: ["id": "a/b c?d#e%2F", "order": "\u{FC}"],
                queryItems: [URLQueryItem(name: "page", value: "2")]
            )
            _ = try await subject.client().success(endpoint.makeRequest())
            let target = try peer.onlyRequest().target
            try expect(
                target.hasSuffix("/customers/a%2Fb%20c%3Fd%23e%252F/orders/%C3%BC?page=2"),
                "The target is \(target)"
            )
        },
        ConformanceCheck("An invalid path parameter sends nothing") {
            subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            for (path, parameters) in [
                ("/a/{id}", [:]), ("/a", ["id": "1"]), ("/a/{id}", ["id": ".."]), ("/a/{id}", ["id": ""]),
                ("/a/{id}-b", ["id": ""]),
            ] {
                let endpoint = HTTP.Endpoint(baseURL: try base(peer), path: path, pathParameters: parameters)
                let oneShot = OneShot<BoundedClient.Outcome>()
                client.stack.fetch(resource: .init(baseRequestMaking: .endpoint(endpoint))) { oneShot.fill($0) }
                guard case .failure(.noRequest(is HTTP.InvalidValue)) = await oneShot.take() else {
                    throw ConformanceFailure("\(path) with \(parameters) was not refused")
                }
            }
            try await peer.expectNothingBefore(client)
        },
        ConformanceCheck("A request goes to its endpoint's scheme, host and port") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let authority = peer.url("/").dropFirst("http://".count).prefix { $0 != "/" }
            let endpoint = try HTTP.Endpoint(scheme: .http, host: HTTP.Host(String(authority)), path: "here")
            _ = try await subject.client().success(endpoint.makeRequest())
            let request = try peer.onlyRequest()
            try expect(request.target.hasSuffix("/here"), "The target is \(request.target)")
            try expectEqual(request["Host"], String(authority), "Host")
        },
        ConformanceCheck("A body sets its media type unless the headers have one") { subject in
            let peer = try subject.serve { _ in .ok("done") }
            let client = try subject.client()
            for (content, type, bytes) in [
                (try HTTP.Content.json(["a": 1]), "application/json", #"{"a":1}"#),
                (.form(["a b": "c&d"]), "application/x-www-form-urlencoded", "a+b=c%26d"),
                (.text("\u{FC}"), "text/plain; charset=utf-8", "\u{FC}"),
                (.bytes(Data([1, 2, 3]), as: .cbor), "application/cbor", "\u{1}\u{2}\u{3}"),
            ] {
                let endpoint = HTTP.Endpoint(method: .PUT, baseURL: try base(peer), content: content)
                _ = try await client.success(endpoint.makeRequest())
                try expectEqual(peer.requests().last?.values(of: "Content-Type"), [type], "Content-Type")
                try expectBytes(peer.requests().last?.body ?? [], bytes.utf8)
            }
            let own = HTTP.Endpoint(
                method: .PUT,
                baseURL: try base(peer),
                headers: [.contentType: "application/own"],
                content: try .json(1)
            )
            _ = try await client.success(own.makeRequest())
            try expectEqual(peer.requests().last?.values(of: "Content-Type"), ["application/own"], "Content-Type")
        },
        ConformanceCheck("A mapper makes the success's model and the failure's API error") { subject in
            let peer = try subject.serve { request in
                request.path.hasSuffix("/ok") ? .json(#"{"name":"Ada"}"#) : .status(403, #"{"reason":"no"}"#)
            }
            let stack = try subject.stack()
            let user = try await stack.fetchAndDecode(resource: mapped(peer, "/ok"), decoding: .mapping(UserMapper()))
            try expectEqual(user.value.name, "Ada", "the model")
            let refused = try mapped(peer, "/no")
            do throws(FetchAndDecodeError<BoundedClient.FetchError>) {
                _ = try await stack.fetchAndDecode(resource: refused, decoding: .mapping(UserMapper()))
                throw .fetch(.cancelled)
            } catch {
                guard case .fetch(.http(403, let reason as ServerError, _)) = error else {
                    throw ConformanceFailure("failed with \(error)")
                }
                try expectEqual(reason.reason, "no", "the API's error")
            }
        },
        // A defect of an older system: "201 and 204 are errors, and an unknown status is a success".
        ConformanceCheck("A mapper treats every 2xx, and no other status, as success") { subject in
            let peer = try subject.serve { request in
                .status(Int(request.path.suffix(3)) ?? 500, request.path.hasSuffix("204") ? "" : #"{"name":"Ada"}"#)
            }
            let stack = try subject.stack()
            for status in [200, 201, 202, 299] {
                let user = try await stack.fetchAndDecode(
                    resource: mapped(peer, "/\(status)"),
                    decoding: .mapping(UserMapper())
                )
                try expectEqual(user.response.status.rawValue, status, "the status")
            }
            _ = try await stack.fetchAndDecode(resource: mapped(peer, "/204"), decoding: .none)
            for status in [304, 399, 418, 499, 599] {
                let failed = try mapped(peer, "/\(status)")
                do throws(FetchAndDecodeError<BoundedClient.FetchError>) {
                    _ = try await stack.fetchAndDecode(resource: failed, decoding: .mapping(UserMapper()))
                    throw .fetch(.cancelled)
                } catch {
                    guard case .fetch(.http(let seen, _, _)) = error, seen.rawValue == status else {
                        throw ConformanceFailure("\(status) ended in \(error)")
                    }
                }
            }
        },
    ]

    private static func base(_ peer: ConformancePeer) throws -> URL {
        guard let url = URL(string: peer.url("/")) else { throw ConformanceFailure("no URL") }
        return url
    }

    private static func mapped(_ peer: ConformancePeer, _ path: String) throws -> ConformanceSubject.Stack.Resource {
        .init(
            baseRequestMaking: .request(try HTTP.Request(url: peer.url(path))),
            errorDecoding: .mapping(UserMapper())
        )
    }
}

private struct User: Decodable { let name: String }
private struct ServerError: Error, Decodable { let reason: String }

private struct UserMapper: ResponseMapper {
    typealias Model = User
    typealias APIError = ServerError
}
