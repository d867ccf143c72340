internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A response's head as URLSession delivers it, and what follows from it.
///
/// URLSession does not report the version of HTTP; 1.1 is assumed. Fields come from a dictionary and are sorted by name. Lines of
/// one name are joined; those of `Set-Cookie` are separated again.
struct ReceivedHead {
    private(set) var response: HTTP.Response
    /// The size of the fields in bytes.
    let size: Int
    let fieldCount: Int
    /// The codings of the body, in the order in which they were applied.
    let contentCodings: [String]
    private let announcedLength: Int64?
    private let faults: [HeadJudge.Fault]

    init(_ response: HTTPURLResponse, url: URL) {
        let fields = HTTP.Headers.fields(of: response)
        let headers = HTTP.Headers(received: fields)
        self.response = HTTP.Response(status: HTTP.StatusCode(response.statusCode), headers: headers, url: url)
        fieldCount = fields.count
        size = fields.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4 }
        var judge = HeadJudge()
        faults = fields.compactMap { judge.read(Array("\($0.name): \($0.value)".utf8).span) }
        (contentCodings, announcedLength) = (judge.contentCodings, judge.contentLength)
    }

    /// The head of the response to a request. URLSession decodes the body.
    init(_ response: HTTPURLResponse, to request: HTTP.Request) {
        self.init(response, url: request.url)
        if hasContent(for: request.method), !contentCodings.isEmpty, unknownCoding(to: Platform.contentCodings) == nil {
            self.response.decodedFrom = contentCodings
        }
    }

    /// Whether the response is known to have no body, or an empty one.
    func hasNoContent(for method: HTTP.Method) -> Bool {
        !hasContent(for: method) || announcedLength == 0
    }

    /// The length of a compressed body as it was sent, in bytes.
    var encodedLength: Int64? { contentCodings.isEmpty ? nil : announcedLength }

    /// The first coding of the body that is none of these.
    func unknownCoding(to known: some Collection<String>) -> String? {
        contentCodings.first { !known.contains($0.lowercased()) }
    }

    /// The first fault of the head, if it has one. Fields about a body that does not follow are not checked.
    func fault(for method: HTTP.Method) -> HeadJudge.Fault? {
        faults.first { hasContent(for: method) || $0 == .noField }
    }

    /// The length of the body in bytes, if the head announces one and URLSession does not decode the body.
    func length(for method: HTTP.Method) -> Int64? {
        hasContent(for: method) && contentCodings.isEmpty ? announcedLength : nil
    }

    private func hasContent(for method: HTTP.Method) -> Bool {
        method != .HEAD && !response.status.neverHasBody
    }
}

extension HTTP.Headers {
    /// The fields of a response, in the order of their names.
    fileprivate static func fields(of response: HTTPURLResponse) -> [Field] {
        var fields: [Field] = []
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            if name.lowercased() == "set-cookie" {
                fields += cookies(value).map { Field(name: .init(name), value: $0) }
            } else {
                // URLSession does not trim the blanks after it.
                let isWhole = value.utf8.last.map { !" \t".utf8.contains($0) } ?? true
                let text = isWhole ? value : String(Substring(value.utf8.withoutOuterBlanks))
                let name = HTTP.HeaderName(name)
                fields.append(Field(name: name, value: single(text, of: name)))
            }
        }
        fields.sort { $0.name.rawValue < $1.name.rawValue }
        return fields
    }

    /// Fields that occur once in a message. Servers and intermediaries add some of them a second time.
    private static let sentOnce: Set<HTTP.HeaderName> = [
        .age, .contentDisposition, .contentLength, .contentLocation, .contentRange, .contentType, .date, .eTag,
        .expires,
        .lastModified, .location, .retryAfter,
    ]

    /// The value of such a field, where joined lines count as one.
    private static func single(_ text: String, of name: HTTP.HeaderName) -> String {
        guard text.utf8.contains(UInt8(ascii: ",")) else { return text }
        if name == .strictTransportSecurity { return firstLine(of: text) }
        return sentOnce.contains(name) ? repeatedLine(of: text) ?? text : text
    }

    /// The value of joined lines, if all are equal. A date contains a comma, too.
    private static func repeatedLine(of joined: String) -> String? {
        let bytes = Array(joined.utf8)
        let comma = Array(", ".utf8)
        let whole = bytes + comma
        // The shortest first: four lines are also two pairs of lines.
        for length in 1...whole.count / 2 where whole.count % length == 0 {
            let line = whole.prefix(length)
            guard line.suffix(comma.count) == comma[...] else { continue }
            let isRepeated = whole.indices.allSatisfy { whole[$0] == line[$0 % length] }
            if isRepeated { return String(decoding: line.dropLast(comma.count), as: UTF8.self) }
        }
        return nil
    }

    /// The first of joined lines, where only that counts (RFC 6797 section 8.1). A comma outside quotes ends it.
    private static func firstLine(of joined: String) -> String {
        var isQuoted = false
        let line = joined.prefix { letter in
            if letter == "\"" { isQuoted.toggle() }
            return isQuoted || letter != ","
        }
        return String(Substring(line.utf8.withoutOuterBlanks))
    }

    /// Separates joined `Set-Cookie` lines: a comma ends a cookie if a blank, a name and `=` follow it. No date matches that, but
    /// a value with a blank may.
    private static func cookies(_ joined: String) -> [String] {
        var cookies: [Substring] = []
        var start = joined.startIndex
        for comma in joined.indices where joined[comma] == "," {
            let following = joined[joined.index(after: comma)...]
            guard following.first == " " else { continue }
            let rest = following.drop { $0 == " " }
            let name = rest.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }
            guard !name.isEmpty, name.endIndex < rest.endIndex, rest[name.endIndex] == "=" else { continue }
            cookies.append(joined[start..<comma])
            start = rest.startIndex
        }
        return (cookies + [joined[start...]]).map(String.init)
    }
}
