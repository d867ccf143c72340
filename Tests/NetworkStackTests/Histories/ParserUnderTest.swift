import FoundationEssentials

@testable import NetworkStack

/// A parser of received input, with valid inputs to begin with.
struct ParserUnderTest: Sendable {
    let name: String
    let samples: [[UInt8]]
    /// Parses an input: a number that is equal for equal results, and the rule that the result breaks, if any.
    let parse: @Sendable ([UInt8]) -> (result: Int, fault: String?)

    /// A parser without a rule that its results could break.
    private init(
        _ name: String,
        _ samples: [String],
        _ parse: @escaping @Sendable ([UInt8]) -> some Hashable & SendableMetatype
    ) {
        self.init(name, samples, parse) { _, _ in nil }
    }

    /// A parser whose results keep a rule.
    private init<Result: Hashable & SendableMetatype>(
        _ name: String,
        _ samples: [String],
        _ parse: @escaping @Sendable ([UInt8]) -> Result,
        fault: @escaping @Sendable (_ input: [UInt8], _ result: Result) -> String?
    ) {
        self.name = name
        self.samples = samples.map { Array($0.utf8) }
        self.parse = { input in
            let result = parse(input)
            return (result.hashValue, fault(input, result))
        }
    }

    /// Every parser of a field, a head or a stream in NetworkStack.
    static let all: [ParserUnderTest] = fields + framing + streams

    private static let fields: [ParserUnderTest] = [
        ParserUnderTest(
            "media type",
            ["text/html; charset=utf-8", "a/b;c=\"d;\\\"e\";f=g", "application/problem+json", "*/*; q=0.5"]
        ) {
            HTTP.MediaType(text($0))
        } fault: { _, type in
            guard let type else { return nil }
            return type.isValid && HTTP.MediaType(type.description) == type
                ? nil : "the written text is not read as the same value"
        },
        ParserUnderTest("media types", ["text/html, text/*;q=0.1, */*;q=0", "a/b;c=\"d,e\", f/g"]) {
            HTTP.MediaType.list(text($0))
        },
        ParserUnderTest(
            "challenges",
            [
                "Basic realm=\"a, b\"", "Negotiate abc==, NTLM", "Bearer error=\"invalid_token\", scope=\"a b\"",
                "Digest realm=\"r\", qop=\"auth,auth-int\", nonce=\"n\", algorithm=SHA-256, Basic realm = x",
            ]
        ) {
            HTTP.Challenge.list(text($0))
        } fault: { _, challenges in
            let names = challenges.flatMap(\.parameters.keys)
            let isLegal = names.allSatisfy { HTTP.Headers.isLegal(name: $0) && $0 == $0.asciiLowercased }
            return isLegal ? nil : "a parameter's name is no token in lower case"
        },
        ParserUnderTest("date", dates) { HTTPDate.parse(text($0), now: now) },
        ParserUnderTest("cookie date", dates + ["Wed, 21-Oct-2026 07:28:00 GMT", "1 jan 70 1:2:3"]) {
            CookieDate.date(of: text($0))
        },
        ParserUnderTest("Retry-After", ["120", "1.5", "7, 9"] + dates) {
            RetryAfter.delay(text($0), at: now)
        } fault: { _, delay in
            delay.map { $0.isFinite ? nil : "a delay that is not finite" } ?? nil
        },
        ParserUnderTest(
            "Set-Cookie",
            ["a=b; Path=/c; Secure; HttpOnly; Max-Age=60", "a=b; Domain=.a.test; SameSite=Lax; Expires=" + dates[0]]
        ) { input in
            SetCookie(text(input)).map { cookie in
                [
                    cookie.name, cookie.value, cookie.domain, cookie.path ?? "none", "\(cookie.maxAge ?? -1)",
                    "\(cookie.isSecure) \(cookie.isHTTPOnly) \(cookie.hasPathAttribute)",
                ]
            }
        } fault: { _, cookie in
            let isLegal = cookie?.allSatisfy { HTTP.Headers.isLegal(value: $0) } ?? true
            return isLegal ? nil : "a cookie that may not be sent"
        },
        ParserUnderTest("Strict-Transport-Security", ["max-age=31536000; includeSubDomains; preload", "max-age=\"0\""])
        {
            StrictTransportSecurity(text($0)).map { [$0.maxAge, $0.includesSubdomains ? 1 : 0] }
        } fault: { _, policy in
            (policy?[0] ?? 0) < 0 ? "an age below zero" : nil
        },
    ]

    private static let framing: [ParserUnderTest] = [
        ParserUnderTest("Content-Length", ["0", "1234567", "5, 5", "9223372036854775807\r\n"]) { input in
            ContentLength.length(String(decoding: input, as: UTF8.self))
        } fault: { input, length in
            guard let length else { return nil }
            let members = input.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { member in
                String(decoding: member.filter { !" \t\r\n".utf8.contains($0) }, as: UTF8.self)
            }
            return members.allSatisfy { Int64($0) == length && $0.utf8.allSatisfy(\.isDigit) } ? nil : "no plain number"
        },
        ParserUnderTest("codings", ["gzip, br", "identity", "chunked\r\n", "gzip;q=1,, zstd"]) {
            CodingList.names($0.span) + CodingList.contentCodings($0.span)
        } fault: { _, names in
            names.contains { $0.isEmpty || $0.utf8.contains(UInt8(ascii: ",")) } ? "an invalid name" : nil
        },
        ParserUnderTest(
            "head",
            [
                "A: b\r\nContent-Type: text/html\r\n folded\r\nSet-Cookie: a=b\r\nset-cookie: c=d\r\nX: \r\n",
                "A:b\nB:c\n",
            ]
        ) { input in
            let headers = HTTP.Headers(lines: input)
            return [headers.fields.map { $0.name.rawValue + ":" + $0.value }, headers.values(for: "set-cookie")]
        } fault: { _, texts in
            let isWhole = texts.joined().allSatisfy { !$0.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D } }
            return isWhole ? nil : "a line end in a value"
        },
    ]

    private static let streams: [ParserUnderTest] = [
        ParserUnderTest(
            "event stream",
            [
                "\u{FEFF}: c\nid: 7\nevent: tick\ndata: a\ndata:  b\nretry: 1500\n\ndata\n\n",
                "data: a\r\n\r\ndata: b\r\r",
            ]
        ) {
            events($0, by: $0.count)
        } fault: { input, whole in
            events(input, by: 1 + Int(input.first ?? 0) % 7) == whole
                ? nil : "other events if the input comes in pieces"
        },
        ParserUnderTest("lines", ["one\r\ntwo\n\nlast", "a\rb\n"]) {
            lines($0, by: $0.count)
        } fault: { input, whole in
            lines(input, by: 1 + Int(input.first ?? 0) % 7) == whole ? nil : "other lines if the input comes in pieces"
        },
    ]

    private static let dates = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ]
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// A value as a head delivers it: as UTF-8, or else as Latin-1.
    private static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(decoding: bytes.map { UInt16($0) }, as: UTF16.self)
    }

    /// The events of a text that arrives in pieces, and the state of the stream.
    private static func events(_ bytes: [UInt8], by length: Int) -> [String] {
        var (parser, seen) = (ServerSentEventParser(limit: 1 << 20), [String]())
        for line in pieces(bytes, by: length, LineBuffer(ending: .lineFeedsAndReturns, keepsRest: true, limit: 1 << 20))
        {
            switch try? parser.take(line) {
            case .event(let event): seen.append("\(event.event)\n\(event.data)\n\(event.id)")
            case .comment(let text): seen.append(text)
            case nil: break
            }
        }
        if let last = parser.event() { seen.append(last.data) }
        return seen + [parser.lastEventID ?? "none", "\(parser.retry ?? .zero)"]
    }

    private static func lines(_ bytes: [UInt8], by length: Int) -> [ArraySlice<UInt8>] {
        pieces(bytes, by: length, LineBuffer(ending: .lineFeeds, limit: 1 << 20))
    }

    private static func pieces(_ bytes: [UInt8], by length: Int, _ buffer: LineBuffer) -> [ArraySlice<UInt8>] {
        var (buffer, rest, lines) = (buffer, bytes[...], [ArraySlice<UInt8>]())
        while !rest.isEmpty {
            buffer.append(rest.prefix(length))
            rest = rest.dropFirst(length)
            while let line = try? buffer.next() { lines.append(line) }
        }
        if let line = try? buffer.rest() { lines.append(line) }
        return lines
    }
}
