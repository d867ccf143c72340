import Testing

@testable import NetworkStack

/// The rules of WHATWG MIME Sniffing, section 4.4, written as a table: the value of a server, and the value that is read.
@Suite("A received media type")
struct ReceivedMediaTypeTests {
    @Test(
        "keeps its type and its good parameters",
        arguments: [
            // Blanks and line ends are ignored outside of a value.
            (" \t\r\ntext/html\n\r\t ", "text/html"), ("text/html ;charset=gbk", "text/html; charset=gbk"),
            ("text/html; \t charset=gbk", "text/html; charset=gbk"),
            ("text/html;charset=gbk \n", "text/html; charset=gbk"),
            ("text/html;charset= gbk", "text/html; charset=\" gbk\""), ("text/html;charset = gbk", "text/html"),
            ("application/json; charset = utf-8", "application/json"), ("text/html;charset =gbk", "text/html"),
            ("text/html;charset=utf 8", "text/html; charset=\"utf 8\""),
            // Type and names count in any case, values as they are.
            ("TEXT/HTML;CHARSET=GBK", "text/html; charset=GBK"), ("x/x;a=b;A=c", "x/x; a=b"),
            // The first valid parameter of a name counts.
            ("text/html;charset=gbk;charset=utf-8", "text/html; charset=gbk"),
            ("text/html;charset=;charset=gbk", "text/html; charset=gbk"),
            ("text/html;charset=\u{1};charset=gbk", "text/html; charset=gbk"),
            // Parameters without a value, and values without a name, are dropped.
            ("text/html;", "text/html"), ("text/html;;;;charset=gbk;;", "text/html; charset=gbk"),
            ("text/html;charset", "text/html"), ("text/html;charset;x=y", "text/html; x=y"),
            ("text/html;charset=", "text/html"), ("text/html;charset= ", "text/html"), ("text/html;=", "text/html"),
            ("text/html;=gbk;x=y", "text/html; x=y"), ("text/html; ;x=y", "text/html; x=y"),
            ("text/html;charset=\n;x=y", "text/html; x=y"),
            // A sign within a value is part of it.
            ("x/x;a=b=c", "x/x; a=\"b=c\""), ("x/x;a==", "x/x; a=\"=\""), ("x/x;a=b/c", "x/x; a=\"b/c\""),
            // Names are tokens.
            ("x/x;a b=c;d=e", "x/x; d=e"), ("x/x;\"a\"=c;d=e", "x/x; d=e"), ("x/x;(=c;d=e", "x/x; d=e"),
            ("x/x;a;=c;d=e", "x/x; d=e"), ("x/x;ä=c;d=e", "x/x; d=e"),
            // Quoted strings.
            ("x/x;a=\"\"", "x/x; a=\"\""), ("x/x;a=\"b c\"", "x/x; a=\"b c\""),
            ("x/x;a=\"b;c\";d=e", "x/x; a=\"b;c\"; d=e"),
            ("x/x;a=\"b\\\"c\"", "x/x; a=\"b\\\"c\""), ("x/x;a=\"\\b\"", "x/x; a=b"), ("x/x;a=\"b", "x/x; a=b"),
            ("x/x;a=\"", "x/x; a=\"\""), ("x/x;a=\"b\\", "x/x; a=\"b\\\\\""), ("x/x;a=\"b;c=d", "x/x; a=\"b;c=d\""),
            ("x/x;a=\"b\"c;d=e", "x/x; a=b; d=e"), ("x/x;a=\"b\" ;d=e", "x/x; a=b; d=e"),
            ("x/x;a= \"b\"", "x/x; a=\" \\\"b\\\"\""), ("x/x;a='b;c'", "x/x; a='b"),
            ("x/x;a=b\"c\"", "x/x; a=\"b\\\"c\\\"\""), ("x/x;a=\"\t\"", "x/x; a=\"\t\""),
            ("x/x;a=\"\u{1}\";d=e", "x/x; d=e"), ("x/x;a=\"\u{7F}\";d=e", "x/x; d=e"),
            ("x/x;a=\"b\nc\";d=e", "x/x; d=e"),
            ("x/x;a=é", "x/x; a=\"é\""), ("x/x;name=\"grüße ✓.csv\"", "x/x; name=\"grüße ✓.csv\""),
            // Boundaries and longer values.
            ("multipart/form-data;boundary=\"a b\"", "multipart/form-data; boundary=\"a b\""),
            ("*/*;q=0.5", "*/*; q=0.5"),
            ("!#$%&'*+-.^_`|~/x;!#$%&'*+-.^_`|~=y", "!#$%&'*+-.^_`|~/x; !#$%&'*+-.^_`|~=y"),
        ] as [(String, String)]
    )
    func kept(_ text: String, _ expected: String) {
        let type = HTTP.MediaType(text)
        #expect(type?.description == expected)
        #expect(type?.isValid == true)
        // A written type is read as the same type.
        #expect(HTTP.MediaType(expected) == type)
        #expect(HTTP.MediaType(stringLiteral: expected) == type)
    }

    @Test(
        "is none without a type or a subtype that is a token",
        arguments: [
            "", " ", "/", "text", "text/", "/html", "text/ html", "text /html", " /html", "te xt/html", "text/ht ml",
            "text/html/x",
            "text//html", "text/html,text/plain", "text/html charset=gbk", "(/x", "x/(", "ä/x", "x/ä",
            "text/html\u{0};a=b",
            "\u{C}text/html", "\u{FEFF}text/html", ";charset=gbk", "text;charset=gbk", "text/;charset=gbk",
            "text\n/html",
        ]
    )
    func none(_ text: String) { #expect(HTTP.MediaType(text) == nil) }

    @Test("takes each byte where the standard has it", arguments: 0...255)
    func bytes(_ number: Int) {
        let (byte, letter) = (UInt8(number), String(UnicodeScalar(UInt8(number))))
        let isToken =
            byte < 0x80
            && (letter.first.map { $0.isLetter || $0.isNumber } == true || "!#$%&'*+-.^_`|~".contains(letter))
        let isText = byte == 9 || (0x20...0x7E).contains(byte) || byte >= 0x80
        let isSpace = " \t\r\n".utf8.contains(byte)
        #expect((HTTP.MediaType("\(letter)/x") != nil) == isToken)
        #expect((HTTP.MediaType("x/\(letter)") != nil) == isToken)
        #expect((HTTP.MediaType("x/x\(letter)") != nil) == (isToken || isSpace || letter == ";"))
        #expect((HTTP.MediaType("x/x;\(letter)=y;bb=c")?.parameters.count == 2) == isToken)
        #expect(HTTP.MediaType("x/x;\(letter)=y;bb=c")?[parameter: "bb"] == "c")
        let plain = HTTP.MediaType("x/x;a=\(letter);b=c")
        #expect((plain?[parameter: "a"] != nil) == (isText && !isSpace && letter != ";"))
        #expect((plain?[parameter: "b"] == "c") == (letter != "\""))
        let quoted = HTTP.MediaType("x/x;a=\"\(letter)\";b=c")
        let isWhole = letter != "\"" && letter != "\\"
        if isWhole { #expect(quoted?[parameter: "a"] == (isText ? letter : nil)) }
        #expect((quoted?[parameter: "b"] == "c") == (letter != "\\"))
    }

    @Test("of many parameters is read in one go")
    func many() {
        let text = "x/x" + (0..<50_000).map { ";a\($0)=b" }.joined()
        #expect(HTTP.MediaType(text)?.parameters.count == 50_000)
    }

    @Test("in a literal is written by the rules, or not valid")
    func literals() {
        for wrong: HTTP.MediaType in [
            "text/html; charset=", "text/html; charset", "text/html; charset = utf-8", "a/b; x=\"open", "a/b; x=a b",
            "text",
        ] {
            #expect(!wrong.isValid)
        }
        #expect(("text/html; charset=\"a b\"; x=y" as HTTP.MediaType).isValid)
    }
}
