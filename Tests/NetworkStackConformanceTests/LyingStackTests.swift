import Foundation
import NetworkStack
import NetworkStackConformance
import Testing

/// A stack that claims a capability it lacks fails the suite. Each capability has such a stack, and a check that it fails.
@Suite("A stack that claims a capability it lacks", .serialized)
struct LyingStackTests {
    /// Several at a time, because some fail by a wait. One counts the descriptors of the process and runs alone.
    @Test("fails a check for each capability", .timeLimit(.minutes(2)))
    func fails() async {
        let alone = Lie.all.filter { $0.capability == .closesOnExec }
        for lie in alone { await expectFailure(of: lie) }
        await withTaskGroup(of: Void.self) { group in
            for (number, lie) in Lie.all.filter({ $0.capability != .closesOnExec }).enumerated() {
                if number >= 6 { await group.next() }
                group.addTask { await expectFailure(of: lie) }
            }
        }
    }

    private func expectFailure(of lie: Lie) async {
        guard let check = ConformanceCheck.all.first(where: { $0.name == lie.check }) else {
            Issue.record("There is no check \"\(lie.check)\".")
            return
        }
        #expect(lie.subject.claims(check), "\"\(lie.check)\" does not run in this test program.")
        let report = ConformanceReport(name: lie.subject.name)
        await #expect(throws: ConformanceFailure.self, "\(lie.capability): \(lie.check)") {
            try await Patience.$longest.withValue(.seconds(3)) { try await lie.subject.prove(check, noting: report) }
        }
    }

    /// The list is read from the source, because Swift does not enumerate static properties.
    @Test("is tested for every capability")
    func isComplete() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var declared: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            declared += text.matches(of: /= (?:HTTP\.)?Capability\(rawValue: "(.+)"\)/).map { String($0.1) }
        }
        #expect(declared.count > 40)
        #expect(Set(declared).count == declared.count, "No two stacks have the same name")
        let tried = Lie.all.map(\.capability.rawValue)
        #expect(Set(tried).count == tried.count, "Each capability is left out once")
        #expect(
            Set(declared).subtracting(tried) == [],
            "Add a stack that claims these and leaves them out to Lies.swift"
        )
        #expect(Set(tried).subtracting(declared) == [], "These capabilities do not exist")
    }
}
