import Foundation
import Testing

@testable import NetworkStack

/// The requirements of Alicerce's tests for the values of a resource.
@Suite("The values a resource is made of")
struct ResourceWitnessTests {
    private struct Unmakeable: Error, Equatable {}
    private struct Model: Codable, Equatable { var foo = "bar" }
    private struct APIError: Error, Codable, Equatable { var code = 7 }

    private struct Endpoint: HTTPResourceEndpoint {
        var method = HTTP.Method.HEAD
        var baseURL = URL(string: "https://h.test/somepath/") ?? URL(filePath: "/")
        var path: String? = "/another/path"
        var queryItems: [URLQueryItem]? = [.init(name: "a", value: "1"), .init(name: "b", value: "2")]
        var headers: HTTP.Headers? = ["A": "b", "C": "d"]
        var body = HTTP.Body.none
        var fails = false

        func makeBody() throws -> HTTP.Body {
            if fails { throw Unmakeable() }
            return body
        }
    }

    @Test("an endpoint's parts all arrive in its request")
    func endpoint() throws {
        let request = try Endpoint(body: .bytes(Data("x".utf8))).makeRequest()
        #expect(request.method == .HEAD)
        #expect(request.url.absoluteString == "https://h.test/somepath/another/path?a=1&b=2")
        #expect(request.headers["a"] == "b")
        #expect(request.headers["C"] == "d")
        guard case .bytes(let data) = request.body else { throw Unmakeable() }
        #expect(data == Data("x".utf8))
        #expect(throws: Unmakeable()) { try Endpoint(fails: true).makeRequest() }
    }

    @Test("making an endpoint's request returns the handler's cancelable, whatever was made")
    func making() {
        for fails in [false, true] {
            let making = Network.BaseRequestMaking<HTTP.Request>.endpoint(Endpoint(fails: fails))
            let (cancelable, made) = (EmptyCancelable(), Lock<Result<HTTP.Request, any Error>?>(nil))
            let returned = making.make { result in
                made.withLock { $0 = result }
                return cancelable
            }
            #expect(returned === cancelable)
            switch made.withLock({ $0 }) {
            case .success(let request): #expect(!fails && request.method == .HEAD)
            case .failure(let error): #expect(fails && error as? Unmakeable == Unmakeable())
            case nil: Issue.record("The handler was not called")
            }
            #expect(making.endpoint is Endpoint)
        }
    }

    @Test("an API's error is decoded from JSON, and is nil if decoding fails")
    func errors() throws {
        let json = Network.ErrorDecoding<Data, Int>.json(APIError.self)
        #expect(json.decode(try JSONEncoder().encode(APIError()), 0) as? APIError == APIError())
        #expect(json.decode(Data("{}".utf8), 0) == nil)
        #expect(json.decode(nil, 0) == nil)
        for payload in [nil, Data(), Data("{}".utf8)] {
            #expect(Network.ErrorDecoding<Data, Int>.dummy.decode(payload, 0) == nil)
        }
    }

    @Test("a model is decoded from JSON, and a missing key is named")
    func models() throws {
        let json = ModelDecoding<Model, Data, Int>.json()
        #expect(try json.decode(JSONEncoder().encode(Model()), 0) == Model())
        do {
            _ = try json.decode(Data("{}".utf8), 0)
            Issue.record("A missing body was decoded")
        } catch DecodingError.keyNotFound(let key, _) {
            #expect(key.stringValue == "foo")
        }
    }
}
