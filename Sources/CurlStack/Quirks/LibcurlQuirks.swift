/// Defects of libcurl that this stack works around, a file for each: cause, versions, work-around, and the upstream
/// issue where there is one.
///
/// A libcurl without defects has none of them. `CurlStackTests/QuirkTests` names the check that proves each one.
package struct LibcurlQuirks: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    init(bit: UInt32) { self.init(rawValue: 1 << bit) }

    /// Those of a version, such as `0x075801` for 7.88.1.
    package init(version: UInt32) {
        self = Self.all.reduce(into: []) { found, entry in
            if entry.versions.contains(version) { found.formUnion(entry.quirk) }
        }
    }

    /// Those of the libcurl of this process.
    package static let running = LibcurlQuirks(version: CurlLibrary.shared.versionNumber)

    /// Every quirk, with the versions that have it.
    package static let all: [(quirk: LibcurlQuirks, versions: Range<UInt32>)] = [
        (.restartedPriorKnowledge, restartedPriorKnowledgeVersions),
        (.heldHTTP2Input, heldHTTP2InputVersions),
        (.mixedHTTP2Bodies, mixedHTTP2BodiesVersions),
        (.repeatedHTTP2Upload, repeatedHTTP2UploadVersions),
        (.resetHTTP2Streams, resetHTTP2StreamsVersions),
        (.foldedFirstLine, foldedFirstLineVersions),
        (.ambiguousHTTP2End, ambiguousHTTP2EndVersions),
        (.unnamedUnixConnection, unnamedUnixConnectionVersions),
        (.stuckConnect, stuckConnectVersions),
        (.lostTimer, lostTimerVersions),
        (.halfPausedHTTP2, halfPausedHTTP2Versions),
        (.pausedSocketRead, pausedSocketReadVersions),
        (.deathLikeRefusal, deathLikeRefusalVersions),
        (.silentGoAway, silentGoAwayVersions),
        (.endlessHTTP2Read, endlessHTTP2ReadVersions),
        (.unreadHTTP2Fault, unreadHTTP2FaultVersions),
        (.forgottenAddresses, forgottenAddressesVersions),
        (.lateHTTP2Sharing, lateHTTP2SharingVersions),
    ]

    static func versions(from first: UInt32 = 0, until end: UInt32 = .max) -> Range<UInt32> { first..<end }
}
