import Foundation
import NetworkStack
import NetworkStackConformance
import Testing

@testable import CurlStack

/// A named check passes with the work-around for a defect of libcurl, and fails without it.
@Suite("Quirks of libcurl", .serialized)
struct QuirkTests {
    /// The check that detects a quirk without its work-around: it fails with a libcurl that has the quirk.
    static let checks: [(quirk: LibcurlQuirks, check: String)] = [
        (.restartedPriorKnowledge, "HTTP/2 by prior knowledge works in cleartext"),
        (.heldHTTP2Input, "Half a body, then a PING of 7 bytes, fails at once"),
        (.mixedHTTP2Bodies, "Interleaved HTTP/2 streams each end with their trailers"),
        (.ambiguousHTTP2End, "A body without a length fails after a WINDOW_UPDATE of zero"),
        (.unnamedUnixConnection, "Unrequested bytes over a Unix socket are not taken as a response"),
        (.lostTimer, "The 100 Continue wait ends beside another timer of the transfer"),
        (.stuckConnect, "A host's fourth address is reached after three refuse the connection"),
        (.halfPausedHTTP2, "A response read beside a busy stream reaches a waiting upload"),
        (.pausedSocketRead, "An unread stream buffers 256 KiB, and 512 KiB at most"),
        (.deathLikeRefusal, "A POST with a broken response over keep-alive HTTP/2 is not repeated"),
        (.silentGoAway, "A request that GOAWAY excludes on a keep-alive connection is sent again"),
        (.endlessHTTP2Read, "A flood of empty DATA over HTTP/2 delays no other fetch"),
        (.unreadHTTP2Fault, "HTTP/1.1 text over HTTP/2 is a protocol error"),
        (.ignoredVersionLimit, "HTTP/1.1 is used on request, whatever the server offers"),
        (.forgottenAddresses, "A resolved address is cached for the configured time"),
    ]

    @Test("have a check each", .timeLimit(.minutes(2)), arguments: checks.indices)
    func masked(_ place: Int) async throws {
        let (quirk, name) = Self.checks[place]
        guard LibcurlQuirks.running.contains(quirk) else { return }
        let check = try #require(ConformanceCheck.all.first { $0.name == name }, "There is no check \(name)")
        let report = ConformanceReport(name: "CurlStack without a work-around")
        try await Self.subject(without: []).prove(check, noting: report)
        await #expect(throws: (any Error).self, "\(name)") {
            try await Self.subject(without: quirk).prove(check, noting: report)
        }
    }

    private static func subject(without quirk: LibcurlQuirks) -> ConformanceSubject {
        ConformanceSubject(name: "CurlStack", capabilities: .init()) {
            try Network.CurlNetworkStack(configuration: $0, without: quirk)
        }
    }

    @Test("are those of the running version, and no others")
    func versions() {
        #expect(LibcurlQuirks(version: 0x081500).isSubset(of: .unreadHTTP2Fault))
        #expect(LibcurlQuirks(version: 0x080500).isSuperset(of: [.pausedSocketRead, .halfPausedHTTP2]))
        #expect(!LibcurlQuirks(version: 0x080600).contains(.pausedSocketRead))
        #expect(LibcurlQuirks(version: 0x075801).isSuperset(of: [.heldHTTP2Input, .foldedFirstLine, .stuckConnect]))
        #expect(Set(LibcurlQuirks.all.map(\.quirk)).count == LibcurlQuirks.all.count, "No two quirks have the same bit")
        #expect(LibcurlQuirks.running == LibcurlQuirks(version: CurlLibrary.shared.versionNumber))
    }
}
