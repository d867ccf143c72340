import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("A configuration for an API")
struct SessionHeadersTests {
    @Test("has the settings an app usually shares")
    func preset() throws {
        let configuration = Network.Configuration.api()
        try configuration.validate()
        #expect(configuration.headers == [.contentType: "application/json"])
        #expect(configuration.options.timeouts.idle == .seconds(20))
        #expect(configuration.options.timeouts.total == .seconds(40))
        #expect(configuration.connections.perHost == 10)
    }

    @Test("has other settings if they are given")
    func others() {
        let configuration = Network.Configuration.api(
            contentType: .cbor,
            requestTimeout: .seconds(1),
            resourceTimeout: .seconds(2),
            connectionsPerHost: 3,
            headers: ["X-App": "one"]
        )
        #expect(
            configuration.headers
                == HTTP.Headers([
                    .init(name: "X-App", value: "one"), .init(name: .contentType, value: "application/cbor"),
                ])
        )
        #expect(configuration.options.timeouts.idle == .seconds(1))
        #expect(configuration.options.timeouts.total == .seconds(2))
        #expect(configuration.connections.perHost == 3)
        #expect(Network.Configuration.api(headers: ["content-type": "a/b"]).headers == ["content-type": "a/b"])
    }

    @Test("applies to a mock, and a retry waits on the mock's clock")
    func mocked() async throws {
        let clock = VirtualClock(keepsUp: true)
        let mock = try MockNetworkStack(configuration: .api(headers: ["X-App": "one"]), clock: clock)
        mock.answer(.POST, "/a", inTurn: .status(503), .json("1"))
        struct Again: HTTPResourceInterceptor {
            typealias Request = HTTP.Request
            typealias Response = HTTP.Response
            func interceptFailedTask(
                withIdentifier identifier: Int,
                request: HTTP.Request?,
                data: Data?,
                response: HTTP.Response?,
                error: any Error,
                retryState: Retry.State
            ) -> Retry.Action { .retryAfter(3600) }
        }
        let request = try HTTP.Request(method: .POST, url: "https://h.test/a", body: .bytes(Data("{}".utf8)))
        _ = try await mock.fetch(resource: .init(baseRequestMaking: .request(request), interceptors: [Again()]))
        #expect(mock.requests.map { $0.headers["X-App"] } == ["one", "one"])
        #expect(mock.requests.map(\.headers.contentType) == [.json, .json])
        #expect(clock.now == .init(offset: .seconds(3600)))
    }
}
