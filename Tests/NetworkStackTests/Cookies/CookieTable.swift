// Longer than 300 lines: it is a table.

/// The cookies that a jar gets and must send, and the differences of other programs.
struct CookieCase: Sendable {
    /// One answer of a server: its URL and its `Set-Cookie` fields.
    typealias Answer = (url: String, fields: [String])

    /// The field that another program sends.
    enum Other: Sendable {
        case same
        case differs(String, because: String)
    }

    let name: String
    let answers: [Answer]
    /// The URL of the next request.
    let url: String
    /// The `Cookie` field that must be sent; empty for none.
    let sent: String
    /// The field that curl sends.
    let curl: Other
    /// The field that Python's http.cookiejar sends.
    let python: Other

    init(
        _ name: String,
        _ answers: [Answer],
        then url: String,
        sent: String,
        curl: Other = .same,
        python: Other = .same
    ) {
        self.name = name
        self.answers = answers
        self.url = url
        self.sent = sent
        self.curl = curl
        self.python = python
    }

    /// One answer of `http://www.example.com/`, then the same URL.
    init(_ name: String, _ field: String, sent: String, curl: Other = .same, python: Other = .same) {
        self.init(name, [(Self.home, [field])], then: Self.home, sent: sent, curl: curl, python: python)
    }

    static let home = "http://www.example.com/"
    static let secure = "https://www.example.com/"
}

extension CookieCase {
    /// All cases.
    static let all = pairs + attributes + dates + domains + paths + security + replacing + order

    private static let pairs = [
        CookieCase(
            "nothing before the first semicolon",
            "; a=b",
            sent: "",
            curl: .differs("a=b", because: "Section 5.6 step 3: what comes first is the pair; curl takes the next.")
        ),
        CookieCase("a name and a value", "a=b", sent: "a=b"),
        CookieCase("blanks around name and value", "  a =  b  ", sent: "a=b"),
        CookieCase("an empty value", "a=", sent: "a="),
        CookieCase("a value with equals signs", "a=b=c==", sent: "a=b=c=="),
        CookieCase("a quoted value keeps its quotes", "a=\"b c\"", sent: "a=\"b c\""),
        CookieCase("a quoted semicolon ends the pair all the same", "a=\"b;c\"", sent: "a=\"b"),
        CookieCase("a value with commas", "a=b,c", sent: "a=b,c"),
        CookieCase("a value with blanks inside", "a=b c", sent: "a=b c"),
        CookieCase("a name with blanks inside", "a b=c", sent: "a b=c"),
        CookieCase(
            "a value without a name",
            "alone",
            sent: "alone",
            curl: .differs("", because: "Section 5.6 step 4: a pair without '=' is a value; curl drops it.")
        ),
        CookieCase(
            "an empty name before the equals sign",
            "=b",
            sent: "b",
            curl: .differs("", because: "Section 5.6 step 4 allows an empty name; curl drops it."),
            python: .differs("", because: "Section 5.6 step 4 allows an empty name; Python drops it.")
        ),
        CookieCase("nothing at all", "", sent: ""),
        CookieCase("an equals sign alone", "=", sent: ""),
        CookieCase("semicolons alone", ";;;", sent: ""),
        CookieCase(
            "an attribute where the pair belongs",
            "Secure",
            sent: "Secure",
            curl: .differs("", because: "Section 5.6 step 4: a pair without '=' is a value; curl drops it.")
        ),
        CookieCase("a name that is an attribute's", "path=here", sent: "path=here"),
        CookieCase(
            "names in another case are other names",
            [(home, ["a=1", "A=2"])],
            then: home,
            sent: "a=1; A=2",
            curl: .differs("A=2", because: "Section 5.7 compares names as they are; curl compares them without case.")
        ),
        CookieCase(
            "a control character in an attribute",
            "a=b; x=\u{1}",
            sent: "",
            curl: .differs("a=b", because: "Section 5.6 step 1 refuses control characters; curl keeps them here."),
            python: .differs("a=b", because: "Section 5.6 step 1 refuses control characters; Python keeps them.")
        ),
        CookieCase(
            "a control character",
            "a=b\u{1}c",
            sent: "",
            python: .differs("a=b\u{1}c", because: "Section 5.6 step 1 refuses control characters; Python keeps them.")
        ),
        CookieCase(
            "a delete character",
            "a=b\u{7F}c",
            sent: "",
            python: .differs("a=b\u{7F}c", because: "Section 5.6 step 1 refuses control characters; Python keeps them.")
        ),
        CookieCase(
            "a tab inside the value",
            "a=b\tc",
            sent: "a=b\tc",
            curl: .differs("", because: "Section 5.6 step 1 lets the tab pass; curl refuses it.")
        ),
        CookieCase(
            "a pair as long as allowed",
            "a=" + String(repeating: "x", count: 4095),
            sent: "a=" + String(repeating: "x", count: 4095),
            curl: .differs(
                "",
                because: "Section 5.6 step 6 counts 4096 bytes for name and value; curl allows a value 4094."
            )
        ),
        CookieCase(
            "a pair longer than allowed",
            "a=" + String(repeating: "x", count: 4096),
            sent: "",
            python: .differs(
                "a=" + String(repeating: "x", count: 4096),
                because: "Section 5.6 step 6 refuses more than 4096 bytes; Python has no limit."
            )
        ),
        CookieCase("UTF-8 in the value", "a=\u{E4}\u{1F36A}", sent: "a=\u{E4}\u{1F36A}"),
        CookieCase(
            "two cookies in two fields",
            [(home, ["a=1", "b=2"])],
            then: home,
            sent: "a=1; b=2",
            curl: .differs("b=2; a=1", because: "Section 5.8.3: the older first; curl 7.88 sends the younger first.")
        ),
        CookieCase("two cookies in one field are one", "a=1, b=2", sent: "a=1, b=2"),
        CookieCase("a dollar in the name", "$Version=1", sent: "$Version=1"),
    ]

    private static let attributes = [
        CookieCase("an unknown attribute", "a=b; Zebra=1; Lion", sent: "a=b"),
        CookieCase("attributes in any case, with blanks", "a=b;  PATH = / ;hTTpOnLY", sent: "a=b"),
        CookieCase("empty attributes", "a=b;;;", sent: "a=b"),
        CookieCase("Max-Age in the future", "a=b; Max-Age=100", sent: "a=b"),
        CookieCase("Max-Age 0", "a=b; Max-Age=0", sent: ""),
        CookieCase("Max-Age below 0", "a=b; Max-Age=-5", sent: ""),
        CookieCase(
            "Max-Age that is no number",
            "a=b; Max-Age=soon",
            sent: "a=b",
            curl: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; curl takes the cookie away."
            ),
            python: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; Python takes the cookie away."
            )
        ),
        CookieCase(
            "Max-Age with a fraction",
            "a=b; Max-Age=0.5",
            sent: "a=b",
            curl: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; curl takes the cookie away."
            ),
            python: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; Python takes the cookie away."
            )
        ),
        CookieCase(
            "Max-Age with a plus",
            "a=b; Max-Age=+0",
            sent: "a=b",
            curl: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; curl takes the cookie away."
            ),
            python: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; Python takes the cookie away."
            )
        ),
        CookieCase(
            "Max-Age in quotes",
            "a=b; Max-Age=\"0\"",
            sent: "a=b",
            curl: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; curl takes the cookie away."
            ),
            python: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; Python takes the cookie away."
            )
        ),
        CookieCase(
            "an empty Max-Age",
            "a=b; Max-Age=",
            sent: "a=b",
            curl: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; curl takes the cookie away."
            ),
            python: .differs(
                "",
                because: "Section 5.6.2: a Max-Age that is no number counts for nothing; Python takes the cookie away."
            )
        ),
        CookieCase("Max-Age beyond any number", "a=b; Max-Age=99999999999999999999", sent: "a=b"),
        CookieCase(
            "Max-Age counts, not Expires",
            "a=b; Max-Age=100; Expires=Thu, 01 Jan 1970 00:00:01 GMT",
            sent: "a=b"
        ),
        CookieCase(
            "Max-Age counts, whatever the order",
            "a=b; Expires=Thu, 01 Jan 2099 00:00:01 GMT; Max-Age=0",
            sent: ""
        ),
        CookieCase("the last Max-Age counts", "a=b; Max-Age=0; Max-Age=100", sent: "a=b"),
        CookieCase("SameSite of any kind", "a=b; SameSite=Strict", sent: "a=b"),
        CookieCase("HttpOnly", "a=b; HttpOnly", sent: "a=b"),
    ]

    private static let dates = [
        CookieCase("Expires in the past", "a=b; Expires=Wed, 09 Jun 2021 10:18:14 GMT", sent: ""),
        CookieCase("Expires in the future", "a=b; Expires=Fri, 31 Dec 2099 23:59:59 GMT", sent: "a=b"),
        CookieCase("Expires with dashes and two digits", "a=b; Expires=Sunday, 06-Nov-94 08:49:37 GMT", sent: ""),
        CookieCase(
            "Expires as asctime has it",
            "a=b; Expires=Sun Nov  6 08:49:37 1994",
            sent: "",
            python: .differs(
                "a=b",
                because:
                    "Section 5.1.1 reads a date in any spelling; Python does not know this one and keeps the cookie."
            )
        ),
        CookieCase("Expires with a two-digit year below 70", "a=b; Expires=Thu, 01-Jan-69 00:00:00 GMT", sent: "a=b"),
        CookieCase(
            "Expires with another zone, which counts for nothing",
            "a=b; Expires=Wed, 09 Jun 2021 10:18:14 PST",
            sent: "",
            python: .differs(
                "a=b",
                because: "Section 5.1.1 reads no zone; Python does not know this one and keeps the cookie."
            )
        ),
        CookieCase(
            "Expires without a time",
            "a=b; Expires=Wed, 09 Jun 2021",
            sent: "a=b",
            curl: .differs("", because: "Section 5.1.1 step 6: no time, no date; curl takes midnight."),
            python: .differs("", because: "Section 5.1.1 step 6: no time, no date; Python takes midnight.")
        ),
        CookieCase("Expires that is no date", "a=b; Expires=yesterday", sent: "a=b"),
        CookieCase("an empty Expires", "a=b; Expires=", sent: "a=b"),
        CookieCase(
            "Expires on a day that there is not",
            "a=b; Expires=Wed, 31 Feb 2021 10:18:14 GMT",
            sent: "a=b",
            curl: .differs("", because: "Section 5.1.1 step 8: there is no such date; curl takes the next there is."),
            python: .differs(
                "",
                because: "Section 5.1.1 step 8: there is no such date; Python takes the next there is."
            )
        ),
        CookieCase(
            "Expires with a month's long name",
            "a=b; Expires=Wed, 9 June 2021 10:18:14",
            sent: "",
            curl: .differs("a=b", because: "Section 5.1.1: the first three letters count; curl wants no more."),
            python: .differs("a=b", because: "Section 5.1.1: the first three letters count; Python wants no more.")
        ),
        CookieCase(
            "Expires in another order",
            "a=b; Expires=2021 Jun 09 10:18:14",
            sent: "",
            python: .differs(
                "a=b",
                because:
                    "Section 5.1.1 reads a date in any spelling; Python does not know this one and keeps the cookie."
            )
        ),
        CookieCase("Expires at an hour that there is not", "a=b; Expires=Wed, 09 Jun 2021 25:18:14 GMT", sent: "a=b"),
        CookieCase(
            "Expires with single digits",
            "a=b; Expires=Wed, 9 Jun 2021 1:8:4 GMT",
            sent: "",
            python: .differs(
                "a=b",
                because:
                    "Section 5.1.1 reads a date in any spelling; Python does not know this one and keeps the cookie."
            )
        ),
        CookieCase("Expires before 1601", "a=b; Expires=Wed, 09 Jun 1500 10:18:14 GMT", sent: "a=b"),
        CookieCase("Expires at the beginning of time", "a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", sent: ""),
        CookieCase("a date in quotes", "a=b; Expires=\"Wed, 09 Jun 2021 10:18:14 GMT\"", sent: ""),
    ]

    private static let domains = [
        CookieCase(
            "no Domain: not below the host",
            [(home, ["a=b"])],
            then: "http://sub.www.example.com/",
            sent: "",
            python: .differs(
                "a=b",
                because:
                    "Section 5.7 step 10: no Domain means this very host; Python sends it below, too."
            )
        ),
        CookieCase("no Domain: not above the host", [(home, ["a=b"])], then: "http://example.com/", sent: ""),
        CookieCase(
            "the host's own Domain: below it, too",
            [(home, ["a=b; Domain=www.example.com"])],
            then: "http://sub.www.example.com/",
            sent: "a=b"
        ),
        CookieCase(
            "a Domain above the host",
            [(home, ["a=b; Domain=example.com"])],
            then: "http://other.example.com/",
            sent: "a=b"
        ),
        CookieCase(
            "a Domain goes to the domain itself",
            [(home, ["a=b; Domain=example.com"])],
            then: "http://example.com/",
            sent: "a=b"
        ),
        CookieCase(
            "a Domain with a dot before it",
            [(home, ["a=b; Domain=.example.com"])],
            then: "http://example.com/",
            sent: "a=b"
        ),
        CookieCase(
            "a Domain in another case",
            [(home, ["a=b; Domain=EXAMPLE.com"])],
            then: "http://other.example.com/",
            sent: "a=b"
        ),
        CookieCase(
            "a Domain below the host",
            [(home, ["a=b; Domain=sub.www.example.com"])],
            then: "http://sub.www.example.com/",
            sent: ""
        ),
        CookieCase(
            "another host's Domain",
            [(home, ["a=b; Domain=example.org"])],
            then: "http://example.org/",
            sent: ""
        ),
        CookieCase(
            "another host's Domain, of another length",
            [(home, ["a=b; Domain=bank.test"])],
            then: "http://bank.test/",
            sent: ""
        ),
        CookieCase(
            "a Domain that only ends alike",
            [("http://notexample.com/", ["a=b; Domain=example.com"])],
            then: "http://example.com/",
            sent: ""
        ),
        CookieCase(
            "a host that only ends like the domain",
            [(home, ["a=b; Domain=example.com"])],
            then: "http://notexample.com/",
            sent: ""
        ),
        CookieCase(
            "a Domain without a dot",
            [(home, ["a=b; Domain=com"])],
            then: "http://example.com/",
            sent: ""
        ),
        CookieCase(
            "a Domain that is a dot",
            "a=b; Domain=.",
            sent: "a=b",
            curl: .differs(
                "",
                because: "Section 5.7: without its dot the Domain is empty, which means this host; curl refuses it."
            ),
            python: .differs(
                "",
                because: "Section 5.7: without its dot the Domain is empty, which means this host; Python refuses it."
            )
        ),
        CookieCase(
            "an empty Domain",
            "a=b; Domain=",
            sent: "a=b",
            python: .differs("", because: "Section 5.7: an empty Domain means this host; Python refuses it.")
        ),
        CookieCase("a Domain that ends in a dot", "a=b; Domain=example.com.", sent: ""),
        CookieCase("two dots before a Domain", "a=b; Domain=..example.com", sent: ""),
        CookieCase(
            "the last Domain counts",
            [(home, ["a=b; Domain=example.org; Domain=example.com"])],
            then: home,
            sent: "a=b",
            curl: .differs(
                "",
                because: "Section 5.7 step 8: the last Domain counts; curl refuses the cookie at the first."
            ),
            python: .differs("", because: "Section 5.7 step 8: the last Domain counts; Python takes the first.")
        ),
        CookieCase(
            "an empty Domain after another",
            [(home, ["a=b; Domain=example.com; Domain="])],
            then: "http://example.com/",
            sent: "",
            curl: .differs(
                "a=b",
                because: "Section 5.7 step 8: the last Domain counts, though empty; curl passes it over."
            ),
            python: .differs(
                "a=b",
                because: "Section 5.7 step 8: the last Domain counts, though empty; Python takes the first."
            )
        ),
        CookieCase(
            "a public suffix of two labels",
            [("http://www.example.co.uk/", ["a=b; Domain=co.uk"])],
            then: "http://other.co.uk/",
            sent: "",
            python: .differs("a=b", because: "Section 5.7 step 9: no cookie for a public suffix; Python has no list.")
        ),
        CookieCase(
            "a name below a public suffix",
            [("http://www.example.co.uk/", ["a=b; Domain=example.co.uk"])],
            then: "http://example.co.uk/",
            sent: "a=b"
        ),
        CookieCase(
            "a private public suffix",
            [("http://me.github.io/", ["a=b; Domain=github.io"])],
            then: "http://you.github.io/",
            sent: "",
            python: .differs("a=b", because: "Section 5.7 step 9: no cookie for a public suffix; Python has no list.")
        ),
        CookieCase(
            "a public suffix by a wildcard",
            [("http://a.b.ck/", ["a=b; Domain=b.ck"])],
            then: "http://c.b.ck/",
            sent: "",
            python: .differs("a=b", because: "Section 5.7 step 9: no cookie for a public suffix; Python has no list.")
        ),
        CookieCase(
            "an exception from a wildcard",
            [("http://a.www.ck/", ["a=b; Domain=www.ck"])],
            then: "http://www.ck/",
            sent: "a=b"
        ),
        CookieCase(
            "a domain above the host's own public suffix",
            [("http://attacker.s3.amazonaws.com/", ["a=b; Domain=amazonaws.com"])],
            then: "http://bank.s3.amazonaws.com/",
            sent: "",
            python: .differs("a=b", because: "Section 5.7 step 9: no cookie for a public suffix; Python has no list.")
        ),
        CookieCase(
            "a domain above the host's own public suffix by a wildcard",
            [("http://b.c.kobe.jp/", ["a=b; Domain=kobe.jp"])],
            then: "http://d.e.kobe.jp/",
            sent: "",
            python: .differs("a=b", because: "Section 5.7 step 9: no cookie for a public suffix; Python has no list.")
        ),
        CookieCase(
            "the parent of a wildcard keeps to itself",
            [("http://kobe.jp/", ["a=b; Domain=kobe.jp"])],
            then: "http://b.c.kobe.jp/",
            sent: "",
            curl: .differs("a=b", because: "Section 5.7 step 9: it is the host's alone; curl sends it below, too."),
            python: .differs("a=b", because: "Section 5.7 step 9: it is the host's alone; Python has no list.")
        ),
        CookieCase(
            "a public suffix with a dot at its end",
            [("http://me.github.io./", ["a=b; Domain=github.io."])],
            then: "http://you.github.io./",
            sent: "",
            curl: .differs(
                "a=b",
                because: "Section 5.7 step 9: no cookie for a public suffix; curl takes the dot for a label."
            ),
            python: .differs("a=b", because: "Section 5.7 step 9: no cookie for a public suffix; Python has no list.")
        ),
        CookieCase(
            "a host that is a public suffix keeps to itself",
            [("http://github.io/", ["a=b; Domain=github.io"])],
            then: "http://github.io/",
            sent: "a=b"
        ),
        CookieCase(
            "nor does it reach those below",
            [("http://github.io/", ["a=b; Domain=github.io"])],
            then: "http://me.github.io/",
            sent: "",
            curl: .differs("a=b", because: "Section 5.7 step 9: it is the host's alone; curl sends it below, too."),
            python: .differs("a=b", because: "Section 5.7 step 9: it is the host's alone; Python has no list.")
        ),
        CookieCase("a host in another case", [("http://WWW.Example.COM/", ["a=b"])], then: home, sent: "a=b"),
        CookieCase("an address", [("http://127.0.0.1/", ["a=b"])], then: "http://127.0.0.1/", sent: "a=b"),
        CookieCase(
            "an address for a Domain",
            [("http://127.0.0.1/", ["a=b; Domain=127.0.0.1"])],
            then: "http://127.0.0.1/",
            sent: "a=b"
        ),
        CookieCase(
            "the end of an address for a Domain",
            [("http://127.0.0.1/", ["a=b; Domain=0.0.1"])],
            then: "http://127.0.0.1/",
            sent: "",
            python: .differs("a=b", because: "Section 5.1.3: an address matches itself only; Python sends it.")
        ),
        CookieCase("a host without a dot", [("http://machine/", ["a=b"])], then: "http://machine/", sent: "a=b"),
        CookieCase("another port of the host", [("http://www.example.com:8080/", ["a=b"])], then: home, sent: "a=b"),
    ]

    private static let paths = [
        CookieCase(
            "no Path: the folder of the URL",
            [("http://www.example.com/one/two", ["a=b"])],
            then: "http://www.example.com/one/three",
            sent: "a=b"
        ),
        CookieCase(
            "no Path: not above the folder",
            [("http://www.example.com/one/two", ["a=b"])],
            then: home,
            sent: ""
        ),
        CookieCase(
            "no Path: below the folder",
            [("http://www.example.com/one/two", ["a=b"])],
            then: "http://www.example.com/one/x/y",
            sent: "a=b"
        ),
        CookieCase(
            "no Path: the folder without its slash",
            [("http://www.example.com/one/two", ["a=b"])],
            then: "http://www.example.com/one",
            sent: "a=b"
        ),
        CookieCase("a Path", [(home, ["a=b; Path=/one"])], then: "http://www.example.com/one/two", sent: "a=b"),
        CookieCase("a Path itself", [(home, ["a=b; Path=/one"])], then: "http://www.example.com/one", sent: "a=b"),
        CookieCase(
            "a path that only begins alike",
            [(home, ["a=b; Path=/one"])],
            then: "http://www.example.com/onetwo",
            sent: ""
        ),
        CookieCase(
            "a Path with a slash at its end",
            [(home, ["a=b; Path=/one/"])],
            then: "http://www.example.com/one",
            sent: "",
            curl: .differs("a=b", because: "Section 5.1.4: /one does not match /one/; curl takes the slash away.")
        ),
        CookieCase(
            "paths that differ in case",
            [(home, ["a=b; Path=/One"])],
            then: "http://www.example.com/one",
            sent: ""
        ),
        CookieCase(
            "a Path that does not begin with a slash",
            [("http://www.example.com/one/two", ["a=b; Path=x"])],
            then: "http://www.example.com/one/y",
            sent: "a=b",
            python: .differs(
                "",
                because: "Section 5.6.4: such a Path means the default path; Python keeps it, and it matches nothing."
            )
        ),
        CookieCase(
            "an empty Path",
            [("http://www.example.com/one/two", ["a=b; Path="])],
            then: "http://www.example.com/one/y",
            sent: "a=b"
        ),
        CookieCase(
            "the last Path counts",
            [(home, ["a=b; Path=/one; Path=/two"])],
            then: "http://www.example.com/two",
            sent: "a=b",
            python: .differs("", because: "Section 5.7 step 11: the last Path counts; Python takes the first.")
        ),
        CookieCase(
            "a Path elsewhere",
            [("http://www.example.com/one/two", ["a=b; Path=/elsewhere"])],
            then: "http://www.example.com/elsewhere",
            sent: "a=b"
        ),
        CookieCase(
            "a Path with escapes is text",
            [(home, ["a=b; Path=/%7Eone"])],
            then: "http://www.example.com/~one",
            sent: ""
        ),
        CookieCase(
            "a query is no path",
            [("http://www.example.com/one?/two/three", ["a=b"])],
            then: "http://www.example.com/x",
            sent: "a=b"
        ),
        CookieCase(
            "a query does not keep a path from matching",
            [(home, ["a=b; Path=/one"])],
            then: "http://www.example.com/one?two",
            sent: "a=b"
        ),
        CookieCase(
            "a Path in quotes",
            [("http://www.example.com/one/two", ["a=b; Path=\"/\""])],
            then: home,
            sent: "",
            curl: .differs(
                "a=b",
                because:
                    "Section 5.6.4: a Path that begins with a quote means the default path; curl takes the quotes away."
            )
        ),
    ]

    private static let security = [
        CookieCase("Secure over https", [(secure, ["a=b; Secure"])], then: secure, sent: "a=b"),
        CookieCase("Secure does not go in the clear", [(secure, ["a=b; Secure"])], then: home, sent: ""),
        CookieCase(
            "Secure with a value",
            [(secure, ["a=b; Secure=no"])],
            then: home,
            sent: "",
            curl: .differs("a=b", because: "Section 5.6.5: Secure counts whatever its value; curl passes it over.")
        ),
        CookieCase(
            "Secure set in the clear",
            [(home, ["a=b; Secure"])],
            then: secure,
            sent: "",
            python: .differs("a=b", because: "Section 5.7 step 12 refuses Secure from http; Python takes it.")
        ),
        CookieCase(
            "a value without a name that looks like a secure cookie",
            [(secure, ["a=1; Secure"]), (home, ["=a=2"])],
            then: secure,
            sent: "a=1"
        ),
        CookieCase("not Secure: also in the clear", [(secure, ["a=b"])], then: home, sent: "a=b"),
        CookieCase(
            "a secure cookie is not replaced in the clear",
            [(secure, ["a=1; Secure"]), (home, ["a=2"])],
            then: secure,
            sent: "a=1",
            python: .differs("a=2", because: "Section 5.7 step 13 leaves secure cookies alone; Python does not.")
        ),
        CookieCase(
            "a secure cookie is not taken away in the clear",
            [(secure, ["a=1; Secure"]), (home, ["a=; Max-Age=0"])],
            then: secure,
            sent: "a=1",
            python: .differs("", because: "Section 5.7 step 13 leaves secure cookies alone; Python does not.")
        ),
        CookieCase(
            "nor hidden by one with a longer path",
            [(secure, ["a=1; Secure"]), ("http://www.example.com/x/y", ["a=2"])],
            then: "https://www.example.com/x/y",
            sent: "a=1",
            python: .differs("a=2; a=1", because: "Section 5.7 step 13 leaves secure cookies alone; Python does not.")
        ),
        CookieCase(
            "nor from a host beside it",
            [(secure, ["a=1; Secure; Domain=example.com"]), ("http://other.example.com/", ["a=2"])],
            then: "https://other.example.com/",
            sent: "a=1",
            curl: .differs(
                "a=2; a=1",
                because: "Section 5.7 step 13 looks at the domains both ways; curl at equal ones only."
            ),
            python: .differs("a=1; a=2", because: "Section 5.7 step 13 leaves secure cookies alone; Python does not.")
        ),
        CookieCase(
            "another name is not touched by that",
            [(secure, ["a=1; Secure"]), (home, ["b=2"])],
            then: secure,
            sent: "a=1; b=2",
            curl: .differs("b=2; a=1", because: "Section 5.8.3: the older first; curl 7.88 sends the younger first.")
        ),
        CookieCase(
            "nor is another path",
            [("https://www.example.com/x", ["a=1; Secure; Path=/x"]), (home, ["a=2; Path=/"])],
            then: secure,
            sent: "a=2"
        ),
        CookieCase("__Secure- with Secure", [(secure, ["__Secure-a=b; Secure"])], then: secure, sent: "__Secure-a=b"),
        CookieCase(
            "__Secure- without Secure",
            [(secure, ["__Secure-a=b"])],
            then: secure,
            sent: "",
            python: .differs(
                "__Secure-a=b",
                because: "Section 5.7 steps 19 and 20: the prefix is a promise; Python knows none."
            )
        ),
        CookieCase(
            "__Host- as it must be",
            [(secure, ["__Host-a=b; Secure; Path=/"])],
            then: secure,
            sent: "__Host-a=b"
        ),
        CookieCase(
            "__Host- with a Domain",
            [(secure, ["__Host-a=b; Secure; Path=/; Domain=www.example.com"])],
            then: secure,
            sent: "",
            python: .differs(
                "__Host-a=b",
                because: "Section 5.7 steps 19 and 20: the prefix is a promise; Python knows none."
            )
        ),
        CookieCase(
            "__Host- with a path below the root",
            [(secure, ["__Host-a=b; Secure; Path=/x"])],
            then: "https://www.example.com/x",
            sent: "",
            python: .differs(
                "__Host-a=b",
                because: "Section 5.7 steps 19 and 20: the prefix is a promise; Python knows none."
            )
        ),
        CookieCase(
            "__Host- without a Path",
            [("https://www.example.com/", ["__Host-a=b; Secure"])],
            then: "https://www.example.com/",
            sent: "",
            curl: .differs("__Host-a=b", because: "Section 5.7 step 20: there must be a Path."),
            python: .differs(
                "__Host-a=b",
                because: "Section 5.7 steps 19 and 20: the prefix is a promise; Python knows none."
            )
        ),
        CookieCase(
            "__Host- without Secure",
            [(secure, ["__Host-a=b; Path=/"])],
            then: secure,
            sent: "",
            python: .differs(
                "__Host-a=b",
                because: "Section 5.7 steps 19 and 20: the prefix is a promise; Python knows none."
            )
        ),
        CookieCase(
            "prefixes in any case",
            [(secure, ["__HOST-a=b; Path=/"])],
            then: secure,
            sent: "",
            python: .differs(
                "__HOST-a=b",
                because: "Section 5.7 steps 19 and 20: the prefix is a promise; Python knows none."
            )
        ),
        CookieCase(
            "a prefix in a value without a name",
            [(secure, ["=__Host-a=b; Path=/"])],
            then: secure,
            sent: "",
            curl: .differs(
                "Path=/",
                because: "Section 5.7 step 21 refuses it; curl takes the next pair for the cookie."
            )
        ),
    ]

    private static let replacing = [
        CookieCase("the same name, domain and path: the last", [(home, ["a=1", "a=2"])], then: home, sent: "a=2"),
        CookieCase(
            "another path is another cookie",
            [(home, ["a=1; Path=/"]), (home, ["a=2; Path=/x"])],
            then: "http://www.example.com/x",
            sent: "a=2; a=1"
        ),
        CookieCase(
            "a Domain makes another cookie",
            [(home, ["a=1"]), (home, ["a=2; Domain=www.example.com"])],
            then: home,
            sent: "a=1; a=2",
            curl: .differs("a=2; a=1", because: "Section 5.8.3: the older first; curl 7.88 sends the younger first.")
        ),
        CookieCase(
            "taken away by a date",
            [(home, ["a=1"]), (home, ["a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"])],
            then: home,
            sent: ""
        ),
        CookieCase(
            "not taken away with another path",
            [("http://www.example.com/x/", ["a=1; Path=/x"]), (home, ["a=; Max-Age=0; Path=/"])],
            then: "http://www.example.com/x",
            sent: "a=1"
        ),
        CookieCase("a second life", [(home, ["a=1; Max-Age=0"]), (home, ["a=2"])], then: home, sent: "a=2"),
        CookieCase(
            "one that is over replaces in the same answer",
            [(home, ["a=1", "a=2; Max-Age=0"])],
            then: home,
            sent: "",
            python: .differs(
                "a=1",
                because: "Section 5.7 takes one cookie after the other; Python looks at the dates of an answer first."
            )
        ),
    ]

    private static let order = [
        CookieCase(
            "longer paths first",
            [(home, ["a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/x"])],
            then: "http://www.example.com/x/y",
            sent: "b=2; c=3; a=1"
        ),
        CookieCase(
            "older ones first among equals",
            [(home, ["c=1", "a=2", "b=3"])],
            then: home,
            sent: "c=1; a=2; b=3",
            curl: .differs(
                "b=3; a=2; c=1",
                because: "Section 5.8.3: the older first; curl 7.88 sends the younger first."
            )
        ),
        CookieCase(
            "a new value does not make it younger",
            [(home, ["a=1", "b=2", "a=3"])],
            then: home,
            sent: "a=3; b=2",
            curl: .differs("b=2; a=3", because: "Section 5.8.3: the older first; curl 7.88 sends the younger first.")
        ),
        CookieCase(
            "of several domains by age",
            [(home, ["a=1; Domain=example.com", "b=2", "c=3; Domain=example.com"])],
            then: home,
            sent: "a=1; b=2; c=3",
            curl: .differs(
                "b=2; c=3; a=1",
                because: "Section 5.8.3: the older first; curl 7.88 sends the younger first."
            ),
            python: .differs("a=1; c=3; b=2", because: "Section 5.8.3: the older first; Python sorts by domain.")
        ),
    ]
}
