import Foundation
import NetworkStackConformance
import Testing

/// The faults that INTERNALS.md lists, and what it says that each is held by.
@Suite("The table of faults")
struct FaultTableTests {
    @Test("names checks that there are, and the curl stack claims to pass")
    func names() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let text = try String(contentsOf: folder.appending(path: "INTERNALS.md"), encoding: .utf8)
        let known = Set(ConformanceCheck.all.filter { CurlConformance.subject.claims($0) }.map(\.name))
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") && $0.contains("«") }
        #expect(rows.count >= 11)
        for row in rows {
            for name in row.split(separator: "«").dropFirst().compactMap({ $0.split(separator: "»").first }) {
                #expect(known.contains(String(name)), "«\(name)» is no check of the suite's")
            }
        }
    }
}
