import Foundation
import NetworkStack
import Testing

@Suite("The package's version")
struct VersionTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func text(_ file: String) throws -> String {
        try String(contentsOf: root.appending(path: file), encoding: .utf8)
    }

    @Test("equals that of the changelog's first section")
    func changelog() throws {
        let changelog = try Self.text("CHANGELOG.md")
        let sections = changelog.matches(of: /(?m)^## \[(.+)\]/).map { String($0.1) }
        let next = changelog.firstMatch(of: /(?m)^The next version is (\d+\.\d+\.\d+)\.$/).map { String($0.1) }
        if sections.first == "Unreleased" {
            #expect(next == Network.version)
            #expect(
                !sections.contains(Network.version),
                "This version is released, so the next one needs another number"
            )
        } else {
            #expect(sections.first == Network.version)
            #expect(next == nil)
        }
    }

    @Test("is sent by default, and has three numbers")
    func userAgent() {
        #expect(Network.Configuration().userAgent == "NetworkStack/\(Network.version)")
        #expect(Network.version.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
    }
}
