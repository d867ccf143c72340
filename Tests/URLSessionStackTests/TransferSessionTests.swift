import Foundation
import Testing

@testable import URLSessionStack

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A session and its places")
struct TransferSessionTests {
    @Test("an ended session makes no task")
    func shutDown() {
        let table = TaskTable(challengeHandler: nil)
        let session = TransferSession(table: table)
        session.attach(URLSession(configuration: .ephemeral))
        #expect(session.urlSession != nil)
        table.shutDown()
        #expect(session.urlSession == nil)
    }
}
