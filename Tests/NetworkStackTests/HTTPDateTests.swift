import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("Dates of HTTP")
struct HTTPDateTests {
    @Test(
        "All three forms name their moment",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            // As servers write them.
            ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777), ("06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sun, 06-Nov-1994 08:49:37 GMT", 784_111_777), ("Sun, 6 Nov 1994 8:49:37 UTC", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 +0000", 784_111_777), ("Sun, 06 Nov 1994 08:49:37", 784_111_777),
            ("Sun 06 Nov 1994  08:49:37 Z", 784_111_777), ("Sun, 06 Nov 1994 08:49:37 UT", 784_111_777),
            ("Sun, 06 Nov 1994 08:49:37 -0000", 784_111_777), ("Sun, 06 Nov 94 08:49:37 GMT", 784_111_777),
            ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sun Nov 6 08:49:37 1994 GMT", 784_111_777),
        ]
    )
    func parses(text: String, seconds: Int) {
        #expect(HTTPDate.parse(text, now: .now)?.timeIntervalSince1970 == Double(seconds))
    }

    @Test(
        "An invalid date is not read",
        arguments: [
            "", "GMT", "Sun", "06-Nov-94-1 08:49:37", "Sun, 06 Nov 1994 08:49:37 +0100",
            "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
            "Wed, 29 Feb 2023 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT GMT",
            "Sun, 06 Nov 19940 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 November 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x", "Nov 6 1994",
            "Sun, 06 Nov 1994 -8:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT", "1994-11-06T08:49:37Z",
            "Sun, 06 Nov 1994 ٠٨:49:37 GMT", "Mon, 29 Feb 2100 00:00:00 GMT",
        ]
    )
    func refuses(text: String) { #expect(HTTPDate.parse(text, now: .now) == nil) }

    @Test("A year of two digits lies at most fifty years ahead")
    func century() throws {
        let now = try #require(HTTPDate.parse("Sat, 21 Nov 2026 00:00:00 GMT", now: .now))
        func year(_ digits: String) -> Date? { HTTPDate.parse("Sunday, 01-Jan-\(digits) 00:00:00 GMT", now: now) }
        #expect(year("76") == HTTPDate.parse("Wed, 01 Jan 2076 00:00:00 GMT", now: .now))
        #expect(year("77") == HTTPDate.parse("Sat, 01 Jan 1977 00:00:00 GMT", now: .now))
        #expect(year("00") == HTTPDate.parse("Sat, 01 Jan 2000 00:00:00 GMT", now: .now))
    }
}
