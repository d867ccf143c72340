import NetworkStack
import Testing

@testable import CurlStack

@Suite("HeadReader")
struct HeadReaderTests {
    private func read(_ lines: [String], limits: HTTP.Options.Limits = .init()) -> (HeadReader, HeadReader.Step) {
        let reader = HeadReader(limits: limits)
        var step = HeadReader.Step.more
        for line in lines {
            step = reader.read(Array((line + "\r\n").utf8).span)
            if case .refused = step { break }
        }
        return (reader, step)
    }

    @Test("ends a final head at its blank line, and not before")
    func finalHead() {
        let (open, before) = read(["HTTP/1.1 404 Not Found", "A: 1"])
        #expect(before == .more)
        #expect(!open.isComplete)
        let (reader, step) = read(["HTTP/1.1 404 Not Found", "A: 1", "B: 2", ""])
        #expect(step == .final)
        #expect(reader.status == .notFound)
        #expect(reader.version == .http1_1)
        #expect(reader.headers.fields.map(\.value) == ["1", "2"])
    }

    @Test("refuses a first line that is a continuation, and accepts a continuation of another")
    func folded() {
        #expect(read(["HTTP/1.1 200 OK", " A: 1"]).1 == .refused(.continuesNothing))
        #expect(
            read(["HTTP/1.1 103 Early Hints", "A: 1", "", "HTTP/1.1 200 OK", "\tA: 1"]).1 == .refused(.continuesNothing)
        )
        let (reader, step) = read(["HTTP/1.1 200 OK", "A: 1", " 2", ""])
        #expect(step == .final)
        #expect(reader.headers["A"] == "1 2")
    }

    @Test("reads the codings of a folded field, and no continuation of other fields")
    func foldedCodings() {
        let (reader, _) = read(["HTTP/1.1 200 OK", "Content-Encoding:", " gzip", "\t, br", "A: 1", " zstd", ""])
        #expect(reader.contentCodings == ["gzip", "br"])
    }

    @Test("lists no more codings than show that there are too many")
    func manyCodings() {
        let line = "Content-Encoding: \(Array(repeating: "gzip", count: 100).joined(separator: ","))"
        let (reader, step) = read(["HTTP/1.1 200 OK"] + Array(repeating: line, count: 100) + [""])
        #expect(step == .final)
        #expect(reader.contentCodings.count == 100)
        let few = read(["HTTP/1.1 200 OK"] + Array(repeating: "Content-Encoding: gzip", count: 7)).0.contentCodings
        #expect(few.count == 6)
        #expect(ContentCoding.decoder(for: few) == nil && ContentCoding.decoder(for: few.dropLast()) != nil)
    }

    @Test("distinguishes informational heads from the final one")
    func informational() {
        let (hints, step) = read(["HTTP/1.1 103 Early Hints", "Link: </a>", ""])
        #expect(step == .informational)
        #expect(!hints.isComplete)
        let (reader, last) = read(["HTTP/1.1 103 Early Hints", "Link: </a>", "", "HTTP/1.1 200 OK", "C: 3", ""])
        #expect(last == .final)
        #expect(reader.headers.fields.map(\.name) == ["C"])
    }

    @Test("reads an HTTP/2 status line and trailers")
    func http2() {
        let (reader, _) = read(["HTTP/2 200 ", "a: 1", "", "t: 9"])
        #expect(reader.version == .http2)
        #expect(reader.trailers?["T"] == "9")
        #expect(reader.headers["t"] == nil)
    }

    @Test(
        "accepts only lengths that are lengths",
        arguments: [
            (["5"], 5, nil), ([" 5 "], 5, nil), (["5", "5"], 5, nil), (["5, 5"], 5, nil),
            (["9223372036854775807"], Int64.max, nil),
            (["5", "6"], nil, HeadJudge.Fault.conflictingLengths), (["5,6"], nil, .conflictingLengths),
            (["+5"], nil, .illegalLength), (["-5"], nil, .illegalLength), (["0x5"], nil, .illegalLength),
            ([""], nil, .illegalLength), (["5 5"], nil, .illegalLength), (["5,"], nil, .illegalLength),
            (["9223372036854775808"], nil, .illegalLength), (["99999999999999999999"], nil, .illegalLength),
        ] as [([String], Int64?, HeadJudge.Fault?)]
    )
    func lengths(_ values: [String], _ length: Int64?, _ fault: HeadJudge.Fault?) {
        let (reader, step) = read(["HTTP/1.1 200 OK"] + values.map { "Content-LENGTH: \($0)" } + [""])
        if let fault {
            #expect(step == .refused(.judged(fault)))
        } else {
            #expect(step == .final)
            #expect(reader.contentLength == length)
        }
    }

    @Test("a space before the colon does not hide a length")
    func spaceBeforeColon() {
        let (_, step) = read(["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length : 6", ""])
        #expect(step == .refused(.judged(.conflictingLengths)))
    }

    @Test(
        "refuses every Transfer-Encoding but one chunked",
        arguments: [
            ["Transfer-Encoding: chunked, chunked"], ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
            ["Transfer-Encoding: chunked, identity"], ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
            ["Transfer-Encoding: identity"], ["Transfer-Encoding: identity", "Transfer-Encoding: chunked"],
            ["Transfer-Encoding: gzip, chunked"], ["Transfer-Encoding: gzip", "transfer-encoding: Chunked"],
            ["Transfer-Encoding: ,chunked"], ["Transfer-Encoding: chunked,"], ["Transfer-Encoding: chunked,,"],
            ["Transfer-Encoding: chunked;q=1"], ["Transfer-Encoding: chunked; a=b"], ["Transfer-Encoding: \"chunked\""],
            ["Transfer-Encoding:"], ["Transfer-Encoding: ,"], ["Transfer-Encoding: xchunked"],
            ["Transfer-Encoding : chunked"], ["Transfer-Encoding\t: chunked"], ["Transfer-Encoding:", " chunked"],
            ["Transfer-Encoding: chunked", "\t, gzip"], ["Transfer-Encoding: chun ked"],
            ["Transfer-Encoding: chun\tked"],
            ["Transfer-Encoding: chun\rked"], ["Transfer-Encoding:\u{B}chunked"],
        ]
    )
    func strangeCodings(_ lines: [String]) {
        #expect(read(["HTTP/1.1 200 OK"] + lines).1 == .refused(.judged(.transferEncoding)))
    }

    @Test("refuses chunks in every version but 1.1", arguments: ["HTTP/1.0 200 OK", "HTTP/2 200"])
    func chunkedElsewhere(_ statusLine: String) {
        #expect(read([statusLine, "Transfer-Encoding: chunked"]).1 == .refused(.judged(.transferEncoding)))
    }

    @Test("takes chunked in every legal spelling", arguments: ["chunked", "\tCHUNKED \t", " Chunked"])
    func chunked(_ value: String) {
        let (reader, step) = read(["HTTP/1.1 200 OK", "Transfer-Encoding:\(value)", ""])
        #expect(step == .final)
        #expect(reader.isChunked)
    }

    @Test("reads a field whose name looks like a status line as a field")
    func fieldLikeAStatusLine() {
        let (reader, step) = read(["HTTP/1.1 200 OK", "Content-Length: 2", "HTTP-1.1: 404 x", "HTTP : 500", ""])
        #expect(step == .final)
        #expect(reader.status == .ok)
        #expect(reader.version == .http1_1)
        #expect(reader.contentLength == 2)
        #expect(reader.headers.count == 3)
    }

    @Test("reads a trailer whose name looks like a status line as a trailer")
    func trailerLikeAStatusLine() {
        let (reader, step) = read(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "HTTP-1.1: y"])
        #expect(step == .more)
        #expect(reader.status == .ok)
        #expect(reader.isComplete)
        #expect(reader.headers.count == 1)
    }

    @Test("matches a field only by its whole name, and not by its length")
    func longerNames() {
        let lines = [
            "Content-Length2: x", "Content-Encodings: gzip", "Transfer-Encoding-Hint: x", "Content-Lengtx: x",
            "Xontent-Length: x",
        ]
        let (reader, step) = read(["HTTP/1.1 200 OK"] + lines + [""])
        #expect(step == .final)
        #expect(reader.contentLength == nil)
        #expect(reader.contentCodings.isEmpty)
    }

    @Test("forgets a head when the next one begins")
    func nothingLeft() {
        let fields = ["Content-Length: 1", "Content-Encoding: gzip", "Transfer-Encoding: chunked", ""]
        let (reader, step) = read(["HTTP/1.1 103 Early Hints"] + fields + ["HTTP/1.1 200 OK", "Content-Length: 2", ""])
        #expect(step == .final)
        #expect(reader.contentLength == 2)
        #expect(reader.contentCodings.isEmpty)
        #expect(!reader.isChunked)
        // After a challenge that libcurl answered.
        let asked = read(["HTTP/1.1 401 Unauthorized"] + fields).0
        asked.isChallenge = true
        for line in ["HTTP/1.1 200 OK", "Content-Length: 2", ""] { _ = asked.read(Array((line + "\r\n").utf8).span) }
        #expect(asked.status == .ok)
        #expect(asked.contentLength == 2)
        #expect(asked.contentCodings.isEmpty)
        #expect(!asked.isChunked)
        #expect(!asked.isChallenge)
    }

    @Test("keeps a challenge's trailers to the challenge")
    func trailersOfChallenge() {
        let (reader, step) = read(["HTTP/1.1 401 Unauthorized", "Transfer-Encoding: chunked", ""])
        #expect(step == .final)
        reader.isChallenge = true
        let trailer = reader.read(Array("Digest: a\r\n".utf8).span)
        #expect(trailer == .more && reader.isChallenge && reader.isComplete && reader.status == .unauthorized)
        #expect(reader.trailers?["Digest"] == "a")
        for line in ["HTTP/1.1 200 OK", ""] { _ = reader.read(Array((line + "\r\n").utf8).span) }
        #expect(reader.status == .ok && reader.isComplete)
        #expect(reader.trailers == nil)
        // The blank line that ends trailers is no trailer.
        let end = reader.read(Array("\r\n".utf8).span)
        #expect(end == .more && reader.trailers == nil)
    }

    @Test("accepts as many fields as its limit, in each head")
    func fieldsAtLimit() {
        let fields = ["A: 1", "B: 2", ""]
        let lines = ["HTTP/1.1 103 Early Hints"] + fields + ["HTTP/1.1 200 OK"] + fields
        var limits = HTTP.Options.Limits()
        limits.headFields = 2
        let (reader, step) = read(lines, limits: limits)
        #expect(step == .final)
        #expect(reader.headers.count == 2)
        limits.headFields = 1
        #expect(read(lines, limits: limits).1 == .refused(.tooManyFields))
    }

    @Test("keeps nothing of an earlier connection")
    func startingOver() {
        let (reader, step) = read(["HTTP/1.1 417 Expectation Failed", "Content-Length: 1", ""], limits: .init())
        #expect(step == .final)
        _ = reader.read(Array("Trailer: 1\r\n".utf8).span)
        reader.startOver()
        #expect(!reader.hasBegun && !reader.isComplete)
        #expect(reader.bytesRead == 0)
        #expect(reader.status == nil && reader.contentLength == nil && reader.trailers == nil)
        // A folded line continues nothing then.
        let mayFollow = reader.mayFollow(Array(" a".utf8).span.bytes)
        #expect(!mayFollow)
    }

    @Test("distinguishes a piece of a long line from a continuation line")
    func pieces() {
        let reader = HeadReader(limits: .init())
        func mayFollow(_ piece: String) -> Bool { reader.mayFollow(Array(piece.utf8).span.bytes) }
        #expect(mayFollow("HTTP/1.1 200 A"))
        #expect(mayFollow(" long"))
        #expect(mayFollow(" reason\r\n"))
        #expect(!mayFollow(" A: 1\r\n"))
        _ = reader.read(Array("HTTP/1.1 200 OK\r\n".utf8).span)
        #expect(!mayFollow("\tA: 1\r\n"))
        #expect(mayFollow("A: 1\r\n"))
        _ = reader.read(Array("A: 1\r\n".utf8).span)
        #expect(mayFollow("\t2\r\n"))
        reader.startOver()
        #expect(!mayFollow(" 2\r\n"), "of another connection")
    }

    @Test("refuses a length that continues in the next line")
    func foldedLength() {
        #expect(read(["HTTP/1.1 200 OK", "Content-Length: 1", " 5"]).1 == .refused(.judged(.illegalLength)))
        #expect(read(["HTTP/1.1 200 OK", "Content-Length: 1", "A: b", " c", ""]).1 == .final)
    }

    @Test(
        "refuses a line whose name is no token, in heads and trailers",
        arguments: [
            ": x", " : x", "a b: c", "a\tb: c", "a\u{B}: c", "Content-Length\u{C}: 5", "a(b): c", "a/b: c", "a;b: c",
            "\u{FF}: c", "a", "Content-Length", "=",
        ]
    )
    func illegalNames(_ line: String) {
        let folds = line.hasPrefix(" ")
        let fault = HeadReader.Step.refused(folds ? .continuesNothing : .judged(.noField))
        #expect(read(["HTTP/1.1 200 OK", line]).1 == fault)
        let trailer = read(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", line]).1
        #expect(trailer == (folds ? .more : fault))
    }

    @Test("stops at the limits of bytes and of fields")
    func limits() {
        let long = read(["HTTP/1.1 200 OK", "A: " + String(repeating: "x", count: 200)], limits: .init(head: 100)).1
        #expect(long == .refused(.tooLong))
        let fields = (0..<20).map { "H\($0): x" }
        #expect(read(["HTTP/1.1 200 OK"] + fields, limits: .init(headFields: 10)).1 == .refused(.tooManyFields))
        #expect(read(["HTTP/1.1 200 OK"] + fields.prefix(10) + [""], limits: .init(headFields: 11)).1 == .final)
    }
}
