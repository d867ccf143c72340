import Testing

@testable import NetworkStack

@Suite("Headers")
struct HeadersTests {
    @Test("names are compared without case, and keep their spelling")
    func names() {
        let headers: HTTP.Headers = ["X-Thing": "1", "x-thing": "2"]
        #expect(headers.values(for: "X-THING") == ["1", "2"])
        #expect(headers["x-ThInG"] == "1, 2")
        #expect(headers.map(\.name.rawValue) == ["X-Thing", "x-thing"])
        #expect(HTTP.HeaderName("ETag") == "etag")
        #expect(Set([HTTP.HeaderName("ETag"), "etag", "ETAG"]).count == 1)
        #expect(HTTP.HeaderName("[") != "{", "only letters have a case")
        #expect(HTTP.HeaderName("@") != "`")
    }

    @Test("writing replaces every line of the name, at the first one's position")
    func writing() {
        var headers: HTTP.Headers = ["A": "1", "B": "2", "a": "3", "C": "4"]
        headers["A"] = "new"
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["A=new", "B=2", "C=4"])
        headers["b"] = nil
        #expect(headers.map(\.name) == ["A", "C"])
        headers["D"] = ""
        #expect(headers["d"] == "", "an empty value is a value")
        #expect(headers.contains("D"))
        headers["missing"] = nil
        #expect(headers.count == 3)
    }

    @Test("a carriage return or NUL in a received line reads as a blank")
    func controls() {
        let headers = HTTP.Headers(lines: Array("A: b\rc\r\nD: e\0f\r\n g\rh\r\n".utf8))
        #expect(headers["A"] == "b c")
        #expect(headers.values(for: "D") == ["e f g h"])
        #expect(headers.map(\.value) == ["b c", "e f g h"])
        #expect(headers.map(\.name.rawValue) == ["A", "D"])
    }

    @Test("a continuation of a skipped line is skipped, and control characters leave no blank")
    func passedOver() {
        let headers = HTTP.Headers(lines: Array("A: b\r\nno field\r\n c\r\nD: \0e\0\r\n".utf8))
        #expect(headers.map(\.value) == ["b", "e"])
        #expect(headers["A"] == "b" && headers["D"] == "e")
    }

    @Test("appending keeps the lines of the same name")
    func appending() {
        var headers = HTTP.Headers()
        headers.append("a=1", for: .setCookie)
        headers.append("b=2, c", for: .setCookie)
        #expect(headers.values(for: .setCookie) == ["a=1", "b=2, c"])
        #expect(headers.count == 2)
    }

    @Test("equality counts lines and their order, not the spelling of names")
    func equality() {
        let headers: HTTP.Headers = ["A": "1", "B": "2"]
        #expect(headers == ["a": "1", "b": "2"])
        #expect(headers != ["B": "2", "A": "1"])
        #expect(headers == HTTP.Headers(lines: Array("a: 1\r\nb: 2\r\n".utf8)))
        #expect(headers.hashValue == HTTP.Headers(lines: Array("A:1\nB:2\n".utf8)).hashValue)
    }

    @Test(
        "a received line is read by the rules",
        arguments: [
            ("A: b\r\n", ["A=b"]), ("A:b\r\n", ["A=b"]), ("A: \t b \t \r\n", ["A=b"]), ("A:\r\n", ["A="]),
            ("A: b\nC: d\n", ["A=b", "C=d"]), ("A: b", ["A=b"]), ("A: b:c\r\n", ["A=b:c"]),
            ("no colon\r\nA: b\r\n", ["A=b"]), ("\r\nA: b\r\n\r\n", ["A=b"]), ("", []), ("\n\n", []),
            ("A : b\r\n", ["A=b"]), (": b\r\n", []), (":x: b\r\n", []), ("I\rJ: k\r\n", []),
            ("A: b\r\n c\r\n", ["A=b c"]), ("A: b\r\n\t c \r\n  d\r\n", ["A=b c d"]), ("A:\r\n b\r\n", ["A=b"]),
            ("A: b\r\n \r\n c\r\n", ["A=b c"]), (" stray\r\nA: b\r\n", ["A=b"]),
        ]
    )
    func lines(_ text: String, _ expected: [String]) {
        let headers = HTTP.Headers(lines: Array(text.utf8))
        #expect(headers.map { "\($0.name)=\($0.value)" } == expected)
        for name in Set(headers.map(\.name)) {
            let walked = headers.filter { $0.name == name }.map(\.value)
            #expect(headers.values(for: name) == walked, "both ways of reading agree")
        }
    }

    @Test("bytes beyond UTF-8 are read as Latin-1, and UTF-8 as itself")
    func encodings() {
        let headers = HTTP.Headers(lines: Array("A: ".utf8) + [0xFC, 0xE9] + Array("\r\nB: \u{FC}\r\n".utf8))
        #expect(headers["A"] == "\u{FC}\u{E9}")
        #expect(headers["B"] == "\u{FC}")
    }

    @Test("a continuation belongs to its field when one name is requested")
    func continuations() {
        let headers = HTTP.Headers(lines: Array("A: 1\r\n 2\r\nB: 3\r\n 4\r\nA: 5\r\n".utf8))
        #expect(headers.values(for: "a") == ["1 2", "5"])
        #expect(headers.values(for: "b") == ["3 4"])
        #expect(headers.values(for: "c").isEmpty)
    }

    @Test("headers that arrived can be changed")
    func changingArrived() {
        var headers = HTTP.Headers(lines: Array("A: 1\r\nB: 2\r\nA: 3\r\n".utf8))
        headers["A"] = "4"
        headers.append("5", for: "B")
        #expect(headers.map(\.value) == ["4", "2", "5"])
    }

    @Test(
        "legal values have no control byte but the tab",
        arguments: [
            ("plain", true), ("", true), ("tab\tinside", true), ("\u{FC}mlaut", true), ("line\nbreak", false),
            ("line\rbreak", false), ("line\r\nbreak", false), ("nul\0", false), ("delete\u{7F}", false),
            ("bell\u{7}", false),
        ]
    )
    func values(_ value: String, _ isLegal: Bool) { #expect(HTTP.Headers.isLegal(value: value) == isLegal) }

    @Test(
        "legal names are tokens",
        arguments: [
            ("X-Thing_1.~", true), ("!#$%&'*+-.^_`|~", true), ("", false), ("a b", false), ("a:", false),
            ("a\n", false),
            ("\u{FC}", false), ("a(", false), ("a/", false), ("a\0", false),
        ]
    )
    func tokens(_ name: String, _ isLegal: Bool) { #expect(HTTP.Headers.isLegal(name: name) == isLegal) }
}
