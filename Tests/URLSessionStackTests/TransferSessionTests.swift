import Foundation
import NetworkStack
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
        let session = TransferSession(table: table, session: URLSession(configuration: .ephemeral))
        #expect(throws: Never.self) { try session.carrier() }
        table.shutDown()
        #expect {
            try session.carrier()
        } throws: { error in
            guard case .shutDown? = error as? HTTPTransferFailure<URLError> else { return false }
            return true
        }
    }
}
