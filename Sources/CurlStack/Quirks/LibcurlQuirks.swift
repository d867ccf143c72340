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
        (.restartedPriorKnowledge, versions(until: 0x080000)),
        (.heldHTTP2Input, versions(until: 0x080100)),
        (.mixedHTTP2Bodies, versions(until: 0x080100)),
        (.repeatedHTTP2Upload, versions(until: 0x080100)),
        (.resetHTTP2Streams, versions(until: 0x080100)),
        (.foldedFirstLine, versions(until: 0x080101)),
        (.ambiguousHTTP2End, versions(until: 0x080200)),
        (.unnamedUnixConnection, versions(until: 0x080200)),
        (.stuckConnect, versions(until: 0x080400)),
        (.lostTimer, versions(until: 0x080400)),
        (.halfPausedHTTP2, versions(from: 0x080400, until: 0x080600)),
        (.pausedSocketRead, versions(from: 0x080500, until: 0x080600)),
        (.deathLikeRefusal, versions(until: 0x080700)),
        (.silentGoAway, versions(until: 0x080700)),
        (.endlessHTTP2Read, versions(until: 0x080700)),
        (.unreadHTTP2Fault, versions(from: 0x080D00)),
        (.forgottenAddresses, versions(from: 0x080100, until: 0x081000)),
        (.ignoredVersionLimit, versions(from: 0x080B00, until: 0x080D00)),
        (.lateHTTP2Sharing, versions(from: 0x080D00, until: 0x081000)),
    ]

    private static func versions(from first: UInt32 = 0, until end: UInt32 = .max) -> Range<UInt32> { first..<end }
}
