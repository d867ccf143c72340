import Foundation
import Testing

@testable import URLSessionStack

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A session and its places")
struct TransferSessionTests {
    @Test("a session is nobody's to make tasks on, once it is shut down")
    func shutDown() {
        let table = TaskTable(challengeHandler: nil)
        let session = TransferSession(table: table)
        session.attach(URLSession(configuration: .ephemeral))
        #expect(session.urlSession != nil)
        table.shutDown()
        #expect(session.urlSession == nil)
    }
}
