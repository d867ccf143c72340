import Foundation
import Testing

@testable import NetworkStack

@Suite("Content")
struct ContentTests {
    private struct Model: Codable, Equatable { var a = 1 }

    private func text(_ content: HTTP.Content) -> String? {
        guard case .bytes(let data) = content.body else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    @Test("describes itself")
    func types() throws {
        #expect(try HTTP.Content.json(Model()).mediaType == .json)
        #expect(try text(.json(Model())) == #"{"a":1}"#)
        #expect(HTTP.Content.text("ü").mediaType == "text/plain; charset=utf-8")
        #expect(HTTP.Content.text("ü", as: "text/html; charset=x").mediaType == "text/html; charset=x")
        #expect(text(.text("ü")) == "ü")
        #expect(HTTP.Content.bytes(Data()).mediaType == .octetStream)
        #expect(HTTP.Content.file(path: "/x", as: .png).mediaType == .png)
        let serialized = HTTP.Content.serialized(7, as: .plainText) { Data("\($0)".utf8) }
        #expect(text(serialized) == "7")
        #expect(serialized.mediaType == .plainText)
        #expect(throws: EncodingError.self) { try HTTP.Content.json(Double.nan) }
    }

    @Test("of a form is written as browsers write it")
    func forms() {
        #expect(text(.form(["a": "1", "b": "x y", "a": "2"])) == "a=1&b=x+y&a=2")
        #expect(text(.form(["+&=": "ü~*-._\r\n%"])) == "%2B%26%3D=%C3%BC%7E*-._%0D%0A%25")
        #expect(text(.form([URLQueryItem(name: "a", value: nil), URLQueryItem(name: "b", value: "")])) == "a=&b=")
        #expect(text(.form([:])) == "")
        #expect(HTTP.Content.form([:]).mediaType == .formURLEncoded)
    }

    @Test("sets the Content-Type unless the headers have one")
    func headers() throws {
        let url = try #require(URL(string: "http://h.test/"))
        #expect(try HTTP.Request(url: url, content: .json(1)).headers == [.contentType: "application/json"])
        let own = try HTTP.Request(url: url, headers: ["content-type": "application/x"], content: .json(1))
        #expect(own.headers.values(for: .contentType) == ["application/x"])
        #expect(try HTTP.Request(url: url, content: .json(1)).method == .POST)
        #expect(try HTTP.Request(url: url, content: .init(.none, as: nil)).headers.isEmpty)
        #expect(throws: HTTP.InvalidValue.self) { try HTTP.Request(url: url, content: .bytes(Data(), as: "nonsense")) }
    }

    private struct Endpoint: HTTPResourceEndpoint {
        var method = HTTP.Method.POST
        var baseURL = URL(filePath: "/")
        var headers: HTTP.Headers?
        var content: HTTP.Content?
        func makeContent() throws -> HTTP.Content? { content }
        func makeBody() throws -> HTTP.Body { .bytes(Data("body".utf8)) }
    }

    @Test("of an endpoint takes precedence over its body")
    func endpoints() throws {
        var request = try Endpoint(content: .json(1)).makeRequest()
        #expect(request.headers == [.contentType: "application/json"])
        #expect(request.body.length == 1)
        request = try Endpoint(headers: ["Content-Type": "text/x"], content: .json(1)).makeRequest()
        #expect(request.headers == ["Content-Type": "text/x"])
        request = try Endpoint().makeRequest()
        #expect(request.headers.isEmpty)
        #expect(request.body.length == 4)
    }
}

@Suite("Decoding with closures and mappers")
struct MapperTests {
    private struct User: Decodable, Equatable {
        let name: String
        let since: Date
    }
    private struct ServerError: Error, Decodable, Equatable { let reason: String }

    private struct UserMapper: ResponseMapper {
        typealias Model = User
        typealias APIError = ServerError

        func makeDecoder() -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }
    }

    private struct Choosy: ResponseMapper {
        struct Refused: Error {}
        func model(from data: Data) throws -> Int? { Int(String(decoding: data, as: UTF8.self)) }
        func apiError(from data: Data) throws -> Refused? {
            if data.count > 3 { throw Refused() }
            return data.count == 3 ? Refused() : nil
        }
    }

    private let response = HTTP.Response(status: 200, url: URL(filePath: "/"))

    private func decode<T>(_ text: String, _ decoding: ModelDecoding<T, Data, HTTP.Response>) throws -> T {
        try decoding.decode(Data(text.utf8), response)
    }

    private func error(_ text: String?, _ decoding: Network.ErrorDecoding<Data, HTTP.Response>) -> (any Error)? {
        decoding.decode(text.map { Data($0.utf8) }, response)
    }

    @Test("a mapper of two decodable types is two lines")
    func mappers() throws {
        let user = try decode(#"{"name":"Ada","since":60}"#, .mapping(UserMapper()))
        #expect(user == User(name: "Ada", since: Date(timeIntervalSince1970: 60)))
        #expect(error(#"{"reason":"no"}"#, .mapping(UserMapper())) as? ServerError == ServerError(reason: "no"))
        #expect(error("<html>", .mapping(UserMapper())) == nil)
        #expect(error(nil, .mapping(UserMapper())) == nil)
        #expect(throws: DecodingError.self) { try decode("[]", .mapping(UserMapper())) }
    }

    @Test("a mapper may find no model and no error")
    func nothing() throws {
        #expect(try decode("7", .mapping(Choosy())) == 7)
        let failure = #expect(throws: UnexpectedBodyError.self) { try decode("secret", .mapping(Choosy())) }
        #expect(failure == UnexpectedBodyError(expected: "Int", count: 6))
        #expect(failure.map { !"\($0)".contains("secret") } == true)
        #expect(throws: EmptyBodyError.self) { try decode("", .mapping(Choosy())) }
        #expect(error("abc", .mapping(Choosy())) is Choosy.Refused)
        #expect(error("ab", .mapping(Choosy())) == nil)
        #expect(error("abcd", .mapping(Choosy())) == nil)
    }

    @Test("closures with the payload only suffice")
    func closures() throws {
        #expect(try decode("abc", .parsing { $0.count }) == 3)
        #expect(throws: ServerError.self) {
            try decode("", .parsing { _ in throw ServerError(reason: "") } as ModelDecoding<Int, Data, HTTP.Response>)
        }
        #expect(
            error("no", .parsing { ServerError(reason: String(decoding: $0, as: UTF8.self)) }) as? ServerError
                == ServerError(reason: "no")
        )
        #expect(error(nil, .parsing { _ in ServerError(reason: "asked") }) == nil)
    }
}
