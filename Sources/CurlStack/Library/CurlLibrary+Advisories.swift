public import NetworkStack

extension CurlLibrary {
    /// The published vulnerabilities of this version of libcurl that a program can meet through CurlStack.
    ///
    /// The list is that of <https://curl.se/docs/security.html> in August 2026, without those of options and protocols that CurlStack
    /// does not use. A distribution may correct libcurl and keep its version number, so read the changes of the system's package, too.
    public var advisories: [HTTP.Advisory] { Self.advisories(ofVersion: versionNumber) }

    /// The vulnerabilities of a version, such as `0x075801` for 7.88.1.
    static func advisories(ofVersion version: UInt32) -> [HTTP.Advisory] {
        published.filter { $0.versions.contains(version) }.map(\.advisory)
    }

    /// Every one of them, the latest first.
    static let published: [(versions: ClosedRange<UInt32>, advisory: HTTP.Advisory)] = [
        published(
            "CVE-2026-3784",
            .low,
            0x070700...0x081200,
            "A tunnel through a proxy may be used for a request with other credentials for that proxy."
        ),
        published(
            "CVE-2025-0665",
            .low,
            0x080b01...0x080b01,
            "After a name lookup, a file descriptor is closed twice, which may be another one by then."
        ),
        published(
            "CVE-2023-38545",
            .high,
            0x074500...0x080300,
            "A long host name overflows a buffer if a SOCKS 5 proxy looks up names (socks5h)."
        ),
        published(
            "CVE-2023-38039",
            .medium,
            0x075400...0x080201,
            "libcurl does not limit the header fields of a response. CurlStack's own limit applies (limits.head)."
        ),
        published(
            "CVE-2023-28321",
            .low,
            0x070c00...0x080001,
            "A wildcard in a certificate may match an internationalized host name that it should not match."
        ),
    ]

    private static func published(
        _ id: String,
        _ severity: HTTP.Advisory.Severity,
        _ versions: ClosedRange<UInt32>,
        _ summary: String
    ) -> (versions: ClosedRange<UInt32>, advisory: HTTP.Advisory) {
        let advisory = HTTP.Advisory(
            id: id,
            summary: summary,
            severity: severity,
            firstVersion: text(ofVersion: versions.lowerBound),
            lastVersion: text(ofVersion: versions.upperBound),
            link: "https://curl.se/docs/\(id).html"
        )
        return (versions, advisory)
    }

    private static func text(ofVersion number: UInt32) -> String {
        "\(number >> 16).\(number >> 8 & 0xff).\(number & 0xff)"
    }
}
