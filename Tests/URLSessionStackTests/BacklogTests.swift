import Foundation
import NetworkStack
import Testing

@testable import URLSessionStack

@Suite("The read-ahead of URLSession")
struct BacklogTests {
    private static let megabyte = Data(count: 1 << 20)

    /// Takes events until the reader pauses after some chunks; returns them in a word each.
    private func tell(_ backlog: inout Backlog, holdingAfter count: Int = .max) -> [String] {
        var told: [String] = []
        while let event = backlog.next() {
            switch event {
            case .body(let data): told.append("\(data.count)")
            case .failed(.bodyTooLarge(let limit)): told.append("more than \(limit)")
            case .finished: told.append("finished")
            default: told.append("another")
            }
            if told.count == count { backlog.hold() }
        }
        return told
    }

    @Test("is delivered in order, and held while the reader pauses")
    func order() {
        var backlog = Backlog()
        backlog.add([.body(Data(count: 1)), .body(Data(count: 2)), .body(Data(count: 3))])
        #expect(tell(&backlog, holdingAfter: 1) == ["1"])
        backlog.add([.body(Data(count: 4)), .finished])
        #expect(tell(&backlog) == [])
        backlog.resume()
        #expect(tell(&backlog, holdingAfter: 2) == ["2", "3"])
        backlog.resume()
        #expect(tell(&backlog) == ["4", "finished"])
    }

    @Test("is bounded by the body limit, however often the reader pauses and resumes")
    func limit() {
        var backlog = Backlog()
        let limit: Int64 = 10 << 20
        backlog.hold()
        for _ in 0..<10 { backlog.add([.body(Self.megabyte)], limit: limit) }
        backlog.resume()
        #expect(tell(&backlog, holdingAfter: 1) == ["1048576"])
        backlog.add([.body(Self.megabyte)], limit: limit)
        #expect(tell(&backlog) == [])
        backlog.add([.body(Data(count: 1))], limit: limit)
        #expect(tell(&backlog) == ["more than 10485760"])
    }

    @Test("does not count what was delivered")
    func told() {
        var backlog = Backlog()
        backlog.hold()
        for _ in 0..<100 {
            backlog.add([.body(Self.megabyte)], limit: 2 << 20)
            backlog.resume()
            #expect(tell(&backlog, holdingAfter: 1) == ["1048576"])
        }
    }
}
