import Foundation
import Testing

@testable import NetworkStack

@Suite("Conversions of a fetch's error")
struct FetchErrorConversionTests {
    private struct Transported: HTTPTransportError {
        var kind: HTTP.FailureKind
        var phase: HTTP.Phase?
    }
    private struct Problem: Error {}
    private typealias Neutral = HTTPFetchError<HTTP.Response, any Error>
    private typealias Typed = HTTPFetchError<HTTP.Response, Transported>

    @Test("the last failure behind a retry, to a stack's types and back")
    func retries() throws {
        var response = HTTP.Response(status: 503, url: try #require(URL(string: "http://host.test/")))
        response.errorBody = Data("busy".utf8)
        let first = Neutral.transport(Transported(kind: .dns))
        let answered = Neutral.retry(.retries(2), Retry.State(errors: [first, Neutral.http(503, Problem(), response)]))
        let typed: Typed = answered.typed { $0 }
        for error: any HTTPError in [typed, typed.erased] {
            #expect(error.statusCode == 503 && error.body == Data("busy".utf8) && error.apiError is Problem)
            #expect(error.context?.url == "http://host.test/" && error.caseName == "http")
        }
        let failures: [Neutral] = [.timedOut(.idle, during: .waiting), .untrusted(.domainNotPinned(host: "a")), first]
        for failure in failures {
            let typed: Typed = Neutral.retry(.retries(1), Retry.State(errors: [failure])).typed { $0 }
            for error: any HTTPError in [typed, typed.erased] {
                #expect(error.caseName == failure.caseName && error.context != nil)
                #expect(error.isTimeout == failure.isTimeout && error.isUntrusted == failure.isUntrusted)
                #expect(error.transportFailure == failure.transportFailure)
            }
        }
    }
}
