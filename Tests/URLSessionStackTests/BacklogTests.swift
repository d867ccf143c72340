import Foundation
import NetworkStack
import Testing

@testable import URLSessionStack

@Suite("The read-ahead of URLSession")
struct BacklogTests {
    private static let megabyte = Data(count: 1 << 20)

    /// Takes events until the reader pauses after some chunks; returns a text for each.
    private func deliver(_ backlog: inout Backlog, holdingAfter count: Int = .max) -> [String] {
        var delivered: [String] = []
        while let event = backlog.next() {
            switch event {
            case .body(let data): delivered.append("\(data.count)")
            case .failed(.bodyTooLarge(let limit)): delivered.append("more than \(limit)")
            case .finished: delivered.append("finished")
            default: delivered.append("another")
            }
            if delivered.count == count { backlog.hold() }
        }
        return delivered
    }

    @Test("is delivered in order, and held while the reader pauses")
    func order() {
        var backlog = Backlog()
        backlog.add([.body(Data(count: 1)), .body(Data(count: 2)), .body(Data(count: 3))])
        #expect(deliver(&backlog, holdingAfter: 1) == ["1"])
        backlog.add([.body(Data(count: 4)), .finished])
        #expect(deliver(&backlog) == [])
        backlog.resume()
        #expect(deliver(&backlog, holdingAfter: 2) == ["2", "3"])
        backlog.resume()
        #expect(deliver(&backlog) == ["4", "finished"])
    }

    @Test("is bounded by the body limit, however often the reader pauses and resumes")
    func limit() {
        var backlog = Backlog()
        let limit: Int64 = 10 << 20
        backlog.hold()
        for _ in 0..<10 { backlog.add([.body(Self.megabyte)], limit: limit) }
        backlog.resume()
        #expect(deliver(&backlog, holdingAfter: 1) == ["1048576"])
        backlog.add([.body(Self.megabyte)], limit: limit)
        #expect(deliver(&backlog) == [])
        backlog.add([.body(Data(count: 1))], limit: limit)
        #expect(deliver(&backlog) == ["more than 10485760"])
    }

    @Test("does not count delivered bytes")
    func delivered() {
        var backlog = Backlog()
        backlog.hold()
        for _ in 0..<100 {
            backlog.add([.body(Self.megabyte)], limit: 2 << 20)
            backlog.resume()
            #expect(deliver(&backlog, holdingAfter: 1) == ["1048576"])
        }
    }
}
