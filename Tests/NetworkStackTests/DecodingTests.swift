import Foundation
import Testing

@testable import NetworkStack

@Suite("Decoding")
struct DecodingTests {
    private struct Model: Decodable, Equatable { let a: Int }
    private struct APIError: Error, Decodable, Equatable { let code: Int }

    private func stack(_ status: HTTP.StatusCode, _ text: String, options: HTTP.Options = .init()) throws
        -> InMemoryStack
    {
        var configuration = Network.Configuration()
        configuration.options = options
        return try InMemoryStack(configuration) { _ in
            { request in (HTTP.Response(status: status, url: request.url), Data(text.utf8)) }
        }
    }

    private func resource(_ decoding: Network.ErrorDecoding<Data, HTTP.Response> = .dummy) throws
        -> HTTPResource<HTTP.Request, HTTP.Response>
    {
        .init(baseRequestMaking: .request(try HTTP.Request(url: "http://host.test/")), errorDecoding: decoding)
    }

    /// Fetches and decodes; returns the side that failed, if any.
    private func decode<T>(
        _ stack: InMemoryStack,
        _ decoding: ModelDecoding<T, Data, HTTP.Response>
    ) async throws -> (model: T?, failure: String?) {
        do { return (try await stack.fetchAndDecode(resource: resource(), decoding: decoding).value, nil) } catch let
            error
            as FetchAndDecodeError<InMemoryStack.FetchError>
        {
            switch error {
            case .fetch: return (nil, "fetch")
            case .decode(let reason): return (nil, "decode \(reason is EmptyBodyError)")
            }
        }
    }

    @Test("a model comes from the body; a failed fetch and failed decoding are distinct")
    func models() async throws {
        #expect(try await decode(stack(200, #"{"a":1}"#), .json(Model.self)).model == Model(a: 1))
        #expect(try await decode(stack(200, "[]"), .json(Model.self)).failure == "decode false")
        #expect(try await decode(stack(500, #"{"a":1}"#), .json(Model.self)).failure == "fetch")
        #expect(try await decode(stack(200, #"{"a":1}"#), .json(Model?.self)).model == .some(Model(a: 1)))
        #expect(try await decode(stack(200, "null"), .json(Model?.self)).model == .some(nil))
    }

    @Test(
        "a success without a body never reaches a JSON decoder, even with stray bytes",
        arguments: [HTTP.StatusCode.noContent, .resetContent],
        ["", #"{"a":1}"#]
    )
    func emptySuccesses(_ status: HTTP.StatusCode, _ text: String) async throws {
        let never: @Sendable () -> JSONDecoder = {
            Issue.record("A decoder was made")
            return JSONDecoder()
        }
        struct Never: ResponseMapper {
            func model(from data: Data) throws -> Model? {
                Issue.record("A mapper was called")
                return nil
            }
            func apiError(from data: Data) throws -> APIError? { nil }
        }
        #expect(try await decode(stack(status, text), .json(Model?.self, decoder: never)).model == .some(nil))
        #expect(try await decode(stack(status, text), .json(Model.self, decoder: never)).failure == "decode true")
        #expect(try await decode(stack(status, text), .mapping(Never())).failure == "decode true")
        #expect(try await decode(stack(status, text), .none).failure == nil)
    }

    @Test("an empty 200 is a failed fetch, unless it is allowed")
    func emptyOK() async throws {
        #expect(try await decode(stack(200, ""), .json(Model?.self)).failure == "fetch")
        var options = HTTP.Options()
        options.allowsEmptyBody = true
        #expect(try await decode(stack(200, "", options: options), .json(Model?.self)).model == .some(nil))
    }

    @Test("an API's error is made of the body of an unsuccessful response")
    func apiErrors() async throws {
        for (text, expected) in [(#"{"code":7}"#, APIError(code: 7)), ("nonsense", nil), ("", nil)] {
            do {
                _ = try await stack(418, text).fetch(resource: resource(.json(APIError.self)))
                Issue.record("A 418 succeeded")
            } catch {
                guard case InMemoryStack.FetchError.http(418, let found, let response) = error else { throw error }
                #expect(found as? APIError == expected)
                #expect(response.status == 418)
            }
        }
    }

    @Test("error decoding is given no payload rather than an empty one")
    func emptyErrors() async throws {
        let seen = Lock<[Data?]>([])
        let decoding = Network.ErrorDecoding<Data, HTTP.Response> { payload, _ in
            seen.withLock { $0.append(payload) }
            return nil
        }
        for text in ["", "x"] { _ = try? await stack(500, text).fetch(resource: resource(decoding)) }
        #expect(seen.withLock { $0 } == [nil, Data("x".utf8)])
    }
}
