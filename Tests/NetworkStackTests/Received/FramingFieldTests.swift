import Testing

@testable import NetworkStack

@Suite("Received fields of framing and coding")
struct FramingFieldTests {
    @Test(
        "A Content-Length is one plain number, however often",
        arguments: [
            ("0", .length(0)), ("5", .length(5)), ("  5\t", .length(5)), ("5\r\n", .length(5)), ("05", .length(5)),
            ("5,5", .length(5)), ("5 ,\t5 , 5", .length(5)), ("9223372036854775807", .length(.max)),
            ("", .illegal), (" ", .illegal), (",", .illegal), ("5,", .illegal), (",5", .illegal), ("5,,5", .illegal),
            ("+5", .illegal), ("-5", .illegal), ("5.0", .illegal), ("0x5", .illegal), ("5e0", .illegal),
            ("5 5", .illegal),
            ("\"5\"", .illegal), ("٥", .illegal), ("5;", .illegal), ("5\u{0}", .illegal), ("5\u{B}", .illegal),
            ("9223372036854775808", .illegal), ("99999999999999999999999", .illegal),
            ("5,6", .conflicting), ("5, 5, 6", .conflicting),
        ] as [(String, ContentLength.Reading)]
    )
    func lengths(_ value: String, _ expected: ContentLength.Reading) {
        #expect(ContentLength.read(Array(value.utf8).span) == expected)
        #expect(ContentLength.read(Array("Content-Length:\(value)".utf8).span, from: 15) == expected)
        let length: Int64? = if case .length(let length) = expected { length } else { nil }
        #expect(ContentLength.length(value) == length)
        let headers: HTTP.Headers = [.contentLength: value]
        #expect(headers.announcedLength == length)
    }

    @Test("Lines of Content-Length must agree")
    func lines() {
        #expect(ContentLength.read(Array("5".utf8).span, after: 5) == .length(5))
        #expect(ContentLength.read(Array("5, 5".utf8).span, after: 6) == .conflicting)
        #expect(ContentLength.read(Array("x".utf8).span, after: 6) == .illegal)
    }

    @Test(
        "A list of codings has names, and empty members are none",
        arguments: [
            ("gzip", ["gzip"], ["gzip"]), ("", [], []), (" , ,,\t", [], []),
            ("gzip, br", ["gzip", "br"], ["gzip", "br"]),
            (",gzip ,\t, BR,\r\n", ["gzip", "BR"], ["gzip", "BR"]), ("identity", ["identity"], []),
            ("Identity, gzip, NONE", ["Identity", "gzip", "NONE"], ["gzip"]), ("gzip;q=1", ["gzip;q=1"], ["gzip;q=1"]),
            ("chun ked", ["chun ked"], ["chun ked"]), ("chunked\u{B}", ["chunked\u{B}"], ["chunked\u{B}"]),
            ("\"a,b\"", ["\"a", "b\""], ["\"a", "b\""]),
        ] as [(String, [String], [String])]
    )
    func codings(_ value: String, _ names: [String], _ content: [String]) {
        #expect(CodingList.names(Array(value.utf8).span) == names)
        #expect(CodingList.names(Array("Content-Encoding:\(value)".utf8).span, from: 17) == names)
        #expect(CodingList.contentCodings(Array(value.utf8).span) == content)
    }
}
