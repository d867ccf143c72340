import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Resources as an app has them: endpoints fetched and decoded, from our server and from independent servers.
    static let resources: [ConformanceCheck] = endpoints + nginxFiles + httpbin

    private static let endpoints: [ConformanceCheck] = [
        ConformanceCheck("An endpoint is fetched and decoded by an async call") { subject in
            let (api, peer) = try bookstore(subject)
            let book = try await subject.stack().fetchAndDecode(
                resource: api.resource(.book(7)),
                decoding: .json(Book.self)
            )
            try expectEqual(book.value, Book(id: 7, title: "Snow"), "the model")
            try expectEqual(book.response.status, .ok, "the status")
            let request = try peer.onlyRequest()
            try expect(
                request.target.hasSuffix("/api/v1/books/7?key=k&full=yes%20please"),
                "The target is \(request.target)"
            )
            try expectEqual(request["Accept"], "application/json", "Accept")
        },
        ConformanceCheck("An endpoint is fetched and decoded with a callback") { subject in
            let (api, peer) = try bookstore(subject)
            let stack = try subject.stack()
            let oneShot = OneShot<Result<Book, any Error>>()
            stack.fetchAndDecode(resource: api.resource(.add(Book(id: 8, title: "Ice"))), decoding: .json(Book.self)) {
                result in
                oneShot.fill(result.map(\.value).mapError { $0 as any Error })
            }
            try expectEqual(await oneShot.take().get(), Book(id: 8, title: "Ice"), "the model")
            let request = try peer.onlyRequest()
            try expectEqual(request.method, "POST", "the method")
            try expectEqual(request["Content-Type"], "application/json", "Content-Type")
            try expectEqual(
                JSONDecoder().decode(Book.self, from: Data(request.body)),
                Book(id: 8, title: "Ice"),
                "the content"
            )
        },
        ConformanceCheck("An undecodable body fails as decoding, in both forms") { subject in
            let (api, _) = try bookstore(subject)
            let stack = try subject.stack()
            do throws(FetchAndDecodeError<BoundedClient.FetchError>) {
                _ = try await stack.fetchAndDecode(resource: api.resource(.book(7)), decoding: .json([Book].self))
                throw .fetch(.cancelled)
            } catch {
                guard case .decode(is DecodingError) = error else { throw ConformanceFailure("failed with \(error)") }
            }
            let oneShot = OneShot<Bool>()
            stack.fetchAndDecode(resource: api.resource(.book(7)), decoding: .json([Book].self)) { result in
                if case .failure(.decode(is DecodingError)) = result {
                    oneShot.fill(true)
                } else {
                    oneShot.fill(false)
                }
            }
            try expectEqual(await oneShot.take(), true, "a decoding failure")
        },
        ConformanceCheck("A failed fetch reaches no decoder, in both forms") { subject in
            let (api, _) = try bookstore(subject)
            let stack = try subject.stack()
            let decoding = ModelDecoding<Book, Data, HTTP.Response> { _, _ in
                throw ConformanceFailure("The decoder was called")
            }
            do throws(FetchAndDecodeError<BoundedClient.FetchError>) {
                _ = try await stack.fetchAndDecode(resource: api.resource(.book(404)), decoding: decoding)
                throw .decode(ConformanceFailure("it succeeded"))
            } catch {
                guard case .fetch(.http(404, let apiError, _)) = error else {
                    throw ConformanceFailure("failed with \(error)")
                }
                try expectEqual(apiError as? Missing, Missing(missing: "book 404"), "the API's error")
            }
            let oneShot = OneShot<Bool>()
            stack.fetchAndDecode(resource: api.resource(.book(404)), decoding: decoding) { result in
                if case .failure(.fetch(.http(404, is Missing, _))) = result {
                    oneShot.fill(true)
                } else {
                    oneShot.fill(false)
                }
            }
            try expectEqual(await oneShot.take(), true, "a failed fetch")
        },
        ConformanceCheck("An empty success decodes to nothing or nil, never a model") { subject in
            let (api, _) = try bookstore(subject)
            let stack = try subject.stack()
            _ = try await stack.fetchAndDecode(resource: api.resource(.remove(7)), decoding: .none)
            let none = try await stack.fetchAndDecode(resource: api.resource(.remove(7)), decoding: .json(Book?.self))
            try expectEqual(none.value, nil, "the model")
            do throws(FetchAndDecodeError<BoundedClient.FetchError>) {
                _ = try await stack.fetchAndDecode(resource: api.resource(.remove(7)), decoding: .json(Book.self))
                throw .fetch(.cancelled)
            } catch {
                guard case .decode(is EmptyBodyError) = error else {
                    throw ConformanceFailure("failed with \(error)")
                }
            }
        },
        ConformanceCheck("An endpoint that makes no request fails as noRequest") { subject in
            let (api, peer) = try bookstore(subject)
            let oneShot = OneShot<BoundedClient.Outcome>()
            try subject.stack().fetch(resource: api.resource(.broken)) { oneShot.fill($0) }
            guard case .failure(.noRequest(is Missing)) = await oneShot.take() else {
                throw ConformanceFailure("expected no request with the endpoint's own error")
            }
            try expectEqual(peer.requests().count, 0, "requests")
        },
        ConformanceCheck("A request that is made later is fetched") { subject in
            let (api, peer) = try bookstore(subject)
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .task {
                    await Task.yield()
                    return try api.endpoint(.book(7)).makeRequest()
                }
            )
            let book = try await subject.stack().fetchAndDecode(resource: resource, decoding: .json(Book.self))
            try expectEqual(book.value.id, 7, "the model")
            try expectEqual(peer.requests().count, 1, "requests")
        },
    ]

    private static func bookstore(_ subject: ConformanceSubject) throws -> (Bookstore, ConformancePeer) {
        let peer = try subject.serve { request in
            switch (request.method, request.path.split(separator: "/").last ?? "") {
            case ("GET", "404"): .status(404, #"{"missing":"book 404"}"#)
            case ("GET", let id): .json(#"{"id":\#(id),"title":"Snow"}"#)
            case ("POST", _): .status(201, bytes: request.body)
            default: .status(204)
            }
        }
        guard let base = URL(string: peer.url("/api/v1/?key=k")) else { throw ConformanceFailure("no URL") }
        return (Bookstore(base: base, peer: peer), peer)
    }
}

private struct Book: Codable, Equatable {
    let id: Int
    let title: String
}

private struct Missing: Error, Codable, Equatable { let missing: String }

/// An app's view of its server.
private struct Bookstore: Sendable {
    let base: URL
    /// Keeps running as long as the store is referenced.
    let peer: ConformancePeer

    enum Call: Sendable {
        case book(Int)
        case add(Book)
        case remove(Int)
        case broken
    }

    struct Endpoint: HTTPResourceEndpoint {
        let call: Call
        let baseURL: URL

        var method: HTTP.Method {
            switch call {
            case .book, .broken: .GET
            case .add: .POST
            case .remove: .DELETE
            }
        }

        var path: String? {
            switch call {
            case .book(let id), .remove(let id): "books/\(id)"
            case .add, .broken: "/books"
            }
        }

        var queryItems: [URLQueryItem]? {
            if case .book = call { [URLQueryItem(name: "full", value: "yes please")] } else { nil }
        }

        var headers: HTTP.Headers? {
            if case .add = call { [.contentType: "application/json"] } else { [.accept: "application/json"] }
        }

        func makeBody() throws -> HTTP.Body {
            switch call {
            case .book, .remove: .none
            case .add(let book): .bytes(try JSONEncoder().encode(book))
            case .broken: throw Missing(missing: "everything")
            }
        }
    }

    func endpoint(_ call: Call) -> Endpoint { Endpoint(call: call, baseURL: base) }

    func resource(_ call: Call) -> ConformanceSubject.Stack.Resource {
        .init(baseRequestMaking: .endpoint(endpoint(call)), errorDecoding: .json(Missing.self))
    }
}
