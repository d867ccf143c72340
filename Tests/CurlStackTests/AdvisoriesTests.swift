import NetworkStack
import Testing

@testable import CurlStack

@Suite("Vulnerabilities of libcurl")
struct AdvisoriesTests {
    private func names(_ version: UInt32) -> [String] { CurlLibrary.advisories(ofVersion: version).map(\.id) }

    @Test("are those of the running version")
    func versions() {
        #expect(
            names(0x075801) == ["CVE-2026-3784", "CVE-2023-38545", "CVE-2023-38039", "CVE-2023-28321"],
            "7.88.1"
        )
        #expect(names(0x080300) == ["CVE-2026-3784", "CVE-2023-38545"], "8.3.0")
        #expect(names(0x080400) == ["CVE-2026-3784"], "8.4.0")
        #expect(names(0x080b01) == ["CVE-2026-3784", "CVE-2025-0665"], "8.11.1")
        #expect(names(0x081300).isEmpty, "8.19.0")
        let running = CurlLibrary.shared
        #expect(running.advisories.map(\.id) == names(running.versionNumber))
        #expect(running.capabilities.advisories == running.advisories)
    }

    @Test("have a version range, a link and a sentence each")
    func texts() {
        let all = CurlLibrary.published.map(\.advisory)
        #expect(Set(all.map(\.id)).count == all.count)
        for advisory in all {
            #expect(advisory.link == "https://curl.se/docs/\(advisory.id).html")
            #expect(advisory.summary.hasSuffix("."))
        }
        let socks = all.first { $0.id == "CVE-2023-38545" }
        #expect(socks?.firstVersion == "7.69.0" && socks?.lastVersion == "8.3.0" && socks?.severity == .high)
        #expect(socks?.description.hasPrefix("CVE-2023-38545 (high, 7.69.0 to 8.3.0): A long host name") == true)
    }
}
