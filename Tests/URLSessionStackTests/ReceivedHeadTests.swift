import Foundation
import FoundationNetworking
import Testing

@testable import NetworkStack
@testable import URLSessionStack

@Suite("The head that URLSession delivers")
struct ReceivedHeadTests {
    @Test("A line that is no field is a fault, also after a fault that counts only with a body")
    func severalFaults() throws {
        let url = try URLText.parse("http://a.test/")
        let fields = ["Content-Length": "5x", "X y": "1"]
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        let head = ReceivedHead(try #require(response), url: url)
        #expect(head.fault(for: .GET) == .illegalLength)
        #expect(head.fault(for: .HEAD) == .noField)
    }
}
