import Foundation
import Testing

@testable import NetworkStack

@Suite("A cookie jar")
struct CookieJarTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private static func file() -> String {
        FileManager.default.temporaryDirectory.appending(path: "jar-\(UUID())").path
    }

    @Test("keeps no cookie longer than 400 days")
    func longestLife() throws {
        let jar = HTTP.CookieJar { Self.now }
        let fields = ["a=1; Max-Age=99999999999", "b=2; Expires=Fri, 31 Dec 2099 23:59:59 GMT", "c=3; Max-Age=60"]
        jar.take(fields, from: try Self.url("http://example.com/"))
        let lives = jar.cookies.map { $0.expires?.timeIntervalSince(Self.now) }
        let longest: TimeInterval = 400 * 86_400
        #expect(lives == [longest, longest, 60])
    }

    @Test("removes cookies when they expire")
    func passing() throws {
        let time = Lock(Self.now)
        let jar = HTTP.CookieJar { time.withLock { $0 } }
        let url = try Self.url("http://example.com/")
        jar.take(["a=1; Max-Age=60", "b=2"], from: url)
        time.withLock { $0 += 59 }
        #expect(jar.cookies(for: url).map(\.name) == ["a", "b"])
        time.withLock { $0 += 1 }
        #expect(jar.cookies(for: url).map(\.name) == ["b"])
        jar.endSession()
        #expect(jar.cookies.isEmpty)
    }

    @Test("stores a cookie from http in the place of a secure one that has expired")
    func expiredSecure() throws {
        let time = Lock(Self.now)
        let jar = HTTP.CookieJar { time.withLock { $0 } }
        let (clear, secure) = (try Self.url("http://example.com/"), try Self.url("https://example.com/"))
        jar.take(["a=1; Secure; Max-Age=60", "b=1; Secure; Max-Age=60; Path=/x; Domain=example.com"], from: secure)
        time.withLock { $0 += 59 }
        #expect(!jar.take(["a=2"], from: clear) && !jar.take(["b=2; Path=/x"], from: clear))
        time.withLock { $0 += 1 }
        #expect(jar.take(["a=2"], from: clear) && jar.take(["b=2; Path=/x"], from: clear))
        #expect(jar.cookies.map(\.value) == ["2", "2"])
    }

    @Test("does not grow without bound")
    func bounds() throws {
        let jar = HTTP.CookieJar { Self.now }
        let one = try Self.url("https://example.com/")
        jar.take(["kept=1; Secure"], from: one)
        jar.take((0..<1000).map { "c\($0)=1" }, from: one)
        #expect(jar.cookies.count == 180)
        #expect(jar.cookies.contains { $0.name == "kept" })
        #expect(jar.cookies.last?.name == "c999")
        for host in 0..<400 {
            jar.take((0..<10).map { "c\($0)=1" }, from: try Self.url("http://h\(host).example.org/"))
        }
        #expect(jar.cookies.count <= 3000)
        #expect(jar.cookies.last?.domain == "h399.example.org")
    }

    @Test("drops the longest unused cookie first, and insecure cookies before secure ones")
    func leastUsed() throws {
        let time = Lock(Self.now)
        let jar = HTTP.CookieJar { time.withLock { $0 } }
        func url(_ path: String) throws -> URL { try Self.url("https://example.com/\(path)") }
        for number in 0..<180 {
            jar.take(["c\(number)=1; Path=/\(number)" + (number == 1 ? "; Secure" : "")], from: try url(""))
            time.withLock { $0 += 1 }
        }
        #expect(jar.cookies(for: try url("0")).count == 1)
        time.withLock { $0 += 1 }
        jar.take(["new=1"], from: try url(""))
        // The first was used since, the second is secure.
        #expect(jar.cookies.map(\.name) == ["c0", "c1"] + (3..<180).map { "c\($0)" } + ["new"])
    }

    @Test("reports whether it stored a cookie, and returns no expired ones")
    func answers() throws {
        let time = Lock(Self.now)
        let jar = HTTP.CookieJar { time.withLock { $0 } }
        let url = try Self.url("http://www.example.com/")
        for fields in [
            [], ["a=b; Domain=example.org"], ["a=b; Domain=com"], ["a=b; Secure"], ["__Secure-a=b"], [""],
            ["a=b; Domain=\u{E9}xample.com"],
        ] {
            #expect(!jar.take(fields, from: url), "\(fields)")
        }
        #expect(!jar.take(["a=b"], from: try Self.url("ftp://www.example.com/")))
        #expect(jar.take(["a=b; Max-Age=1", "a=b; Domain=com"], from: url), "one of them")
        #expect(jar.cookies.count == 1)
        time.withLock { $0 += 1 }
        #expect(jar.cookies.isEmpty)
    }

    @Test("reports a cookie's attribute for scripts")
    func promises() throws {
        let jar = HTTP.CookieJar { Self.now }
        jar.take(["a=1; HttpOnly", "b=2"], from: try Self.url("http://example.com/"))
        #expect(jar.cookies.map(\.isHTTPOnly) == [true, false])
    }

    @Test("is saved for its owner only, and is loaded unchanged")
    func files() throws {
        let path = Self.file()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let jar = HTTP.CookieJar { Self.now }
        let url = try Self.url("https://www.example.com/x/y")
        jar.take(
            [
                "a=1; Max-Age=1000; Secure; HttpOnly", "b=; Domain=example.com; Path=/; Max-Age=1000", "s=3",
                "n\u{E4}me=v\u{E4}lue; Max-Age=1000", "alone; Max-Age=1000", "q=\"x y\"; Max-Age=1000",
            ],
            from: url
        )
        try Data("old and long".utf8).write(to: URL(filePath: path))
        try jar.save(to: path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let back = HTTP.CookieJar { Self.now }
        try back.load(from: path)
        #expect(back.cookies == jar.cookies.filter { $0.expires != nil })
        #expect(back.cookies.count == 5)
        try jar.save(to: path, includingSession: true)
        let all = HTTP.CookieJar { Self.now }
        try all.load(from: path)
        #expect(Set(all.cookies) == Set(jar.cookies))
    }

    @Test(
        "a file has every cookie that a server may set",
        arguments: ["http://example.com/a;v=1/x", "http://example.com./"]
    )
    func unusualScopes(_ text: String) throws {
        let path = Self.file()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (jar, back) = (HTTP.CookieJar { Self.now }, HTTP.CookieJar { Self.now })
        jar.take(["a=1; Max-Age=1000"], from: try Self.url(text))
        try jar.save(to: path)
        try back.load(from: path)
        #expect(back.cookies == jar.cookies && back.cookies.count == 1)
    }

    @Test("reads a file of curl, and skips lines that are no cookie")
    func readsCurl() throws {
        let path = Self.file()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = """
            # Netscape HTTP Cookie File
            # https://curl.se/docs/http-cookies.html

            #HttpOnly_.example.com\tTRUE\t/\tTRUE\t4102444799\ta\t1
            www.example.com\tFALSE\t/x\tFALSE\t0\tb\t2
            example.com\tMAYBE\t/\tFALSE\t0\tc\t3
            example.com\tFALSE\t/\tMAYBE\t0\tc\t3
            example.com\tFALSE\tx\tFALSE\t0\tc\t3
            example.com\tFALSE\t/\tFALSE\tsoon\tc\t3
            example.com\tFALSE\t/\tFALSE\t1\tover\t3
            exa mple.com\tFALSE\t/\tFALSE\t0\tc\t3
            example.com\tFALSE\t/\tFALSE\t0\t__Secure-c\t3
            example.com\tFALSE\t/\tFALSE\t0\tempty
            example.com\tFALSE\t/\tFALSE\t0\td\t4\t5
            nonsense
            """
        try Data(text.utf8).write(to: URL(filePath: path))
        let jar = HTTP.CookieJar { Self.now }
        try jar.load(from: path)
        #expect(jar.cookies.map(\.pair) == ["a=1", "b=2", "empty="])
        #expect(jar.cookies.map(\.isHostOnly) == [false, true, true])
        #expect(jar.cookies.map(\.isHTTPOnly) == [true, false, false])
    }

    @Test(
        "never lets a server write a line of its file",
        arguments: ["\u{2028}", "\u{2029}", "\u{85}", "\t", "\u{B}", "\u{C}", "\r\n", "\r", "\n"]
    )
    func planted(_ end: String) throws {
        let path = Self.file()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let evil = HTTP.CookieJar { Self.now }
        let line = "x\(end).bank.test\tTRUE\t/\tTRUE\t1800001000\tsid\tevil"
        evil.take(
            [
                "a=\(line); Max-Age=1000", "\(line)=a; Max-Age=1000", "a=b; Path=/\(line); Max-Age=1000",
                "c=d; Max-Age=10",
            ],
            from: try Self.url("https://evil.test")
        )
        try evil.save(to: path)
        let jar = HTTP.CookieJar { Self.now }
        try jar.load(from: path)
        #expect(jar.cookies(for: try Self.url("https://bank.test/")).isEmpty)
        #expect(jar.cookies.map(\.pair) == ["c=d"], "cookies that the file format supports are saved")
        let lines = try String(contentsOfFile: path, encoding: .utf8).utf8.split(separator: 10).dropFirst()
        #expect(lines.allSatisfy { $0.count { $0 == 9 } == 6 }, "other readers of the format read the same cookies")
        // Files of other programs are read in the same way.
        try Data("evil.test\tFALSE\t/\tFALSE\t1800001000\ta\t\(line)\n".utf8).write(to: URL(filePath: path))
        try jar.load(from: path)
        if end.utf8.last != 10 { #expect(jar.cookies(for: try Self.url("https://bank.test/")).isEmpty) }
    }

    @Test("stores no date that a file cannot hold")
    func dates() throws {
        let path = Self.file()
        defer { try? FileManager.default.removeItem(atPath: path) }
        // The text of curl for a date out of range.
        try Data("example.com\tFALSE\t/\tFALSE\t9223372036854775807\ta\t1\r\n".utf8).write(to: URL(filePath: path))
        let jar = HTTP.CookieJar { Self.now }
        try jar.load(from: path)
        for (name, seconds) in [("b", 1e20), ("c", Double.infinity), ("d", .nan), ("e", -1e20)] {
            let date = Date(timeIntervalSince1970: seconds)
            jar.set(try HTTP.Cookie(name: name, value: "1", domain: "example.com", expires: date))
        }
        try jar.save(to: path)
        let back = HTTP.CookieJar { Self.now }
        try back.load(from: path)
        #expect(back.cookies.map(\.name) == ["a", "b", "c", "d"])
        #expect(back.cookies.allSatisfy { $0.expires?.timeIntervalSince(Self.now) == 400 * 86_400 })
        // An invalid clock must not trap.
        let lost = HTTP.CookieJar { .distantFuture + 1e20 }
        lost.set(try HTTP.Cookie(name: "a", value: "1", domain: "example.com", expires: .distantFuture + 2e20))
        try lost.save(to: path)
    }

    @Test("explains why a file cannot be read or written, and keeps the old one")
    func failures() {
        let jar = HTTP.CookieJar()
        #expect(throws: FileError(path: "/nonexistent/jar", number: ENOENT)) { try jar.load(from: "/nonexistent/jar") }
        #expect(throws: FileError(path: "/usr", number: EISDIR)) { try jar.load(from: "/usr") }
        #expect(throws: FileError.self) { try jar.save(to: "/nonexistent/jar") }
    }

    @Test("accepts legal cookies of the caller")
    func own() throws {
        let jar = HTTP.CookieJar { Self.now }
        jar.set(try HTTP.Cookie(name: "a", value: "1", domain: "Example.com", isHostOnly: false))
        #expect(jar.cookies(for: try Self.url("http://sub.example.com/")).map(\.pair) == ["a=1"])
        for (name, value, domain, path) in [
            ("a\r\nX: y", "1", "example.com", "/"), ("a", "1;b", "example.com", "/"), ("a=", "1", "example.com", "/"),
            ("a", "1", "example.com/x", "/"), ("a", "1", "", "/"), ("a", "1", "example.com", "x"), ("", "", "x", "/"),
            ("a", "1 ", "example.com", "/"), ("a", "1\u{7F}", "example.com", "/"),
            ("a", String(repeating: "1", count: 4096), "example.com", "/"),
            ("a", "1", "user@example.com", "/"), ("a", "1", "example.com:80", "/"), ("a", " 1", "example.com", "/"),
        ] {
            #expect(throws: HTTP.InvalidValue.self, "\(name) \(value) \(domain) \(path)") {
                try HTTP.Cookie(name: name, value: value, domain: domain, path: path)
            }
        }
    }

    @Test("shows no value")
    func redaction() throws {
        let jar = HTTP.CookieJar()
        jar.take(["a=s3cret"], from: try Self.url("http://example.com/"))
        var text = "\(jar) \(jar.cookies)"
        dump(jar.cookies, to: &text)
        dump(jar, to: &text)
        #expect(!text.contains("s3cret"))
    }

    @Test("removes no cookie because of a file with expired ones")
    func oldFiles() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "jar-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("example.com\tFALSE\t/\tFALSE\t1\ta\told\n".utf8).write(to: URL(filePath: path))
        let jar = HTTP.CookieJar { Self.now }
        jar.set(try HTTP.Cookie(name: "a", value: "new", domain: "example.com"))
        try jar.load(from: path)
        #expect(jar.cookies.map(\.value) == ["new"])
    }

    @Test(
        "compares the names of a request's own cookies by their bytes",
        arguments: ["a=\u{301}own; b=1", "b=1;\ta =own", "b=1; a", "c=2;\u{301}d=3; a=4; b="]
    )
    func ownNames(_ field: String) throws {
        let (jar, url) = (HTTP.CookieJar { Self.now }, try Self.url("http://example.com/"))
        jar.take(["a=jar", "b=jar"], from: url)
        #expect(jar.adding(to: [.cookie: field], for: try CookieScope(url))[.cookie] == field)
    }
}
