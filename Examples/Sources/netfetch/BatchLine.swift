import Foundation
import NetworkStack

/// One line of a batch, read.
struct BatchLine: Sendable {
    /// What the result repeats.
    let id: JSON
    /// The keys that have no effect.
    let ignored: [String]
    /// What to fetch, or what is wrong with the line.
    let order: Result<Order, Failure>

    /// Reads a line.
    init(_ text: Data, usual: Batch.Usual) {
        do {
            let values = try Self.values(text)
            id = values["id"] ?? .null
            ignored = values.keys.filter { !Self.keys.contains($0) }.sorted()
            order = Result { () throws(Failure) in try Self.order(Reader(values: values), usual) }
        } catch {
            id = .null
            ignored = []
            order = .failure(error)
        }
    }

    /// A line that could not be read.
    init(failure: Failure) {
        id = .null
        ignored = []
        order = .failure(failure)
    }

    private static let keys: Set<String> = [
        "id", "url", "method", "headers", "body_b64", "follow", "timeout", "decompress", "cacert", "insecure", "proxy",
        "user", "http2", "pin",
    ]

    private static func values(_ text: Data) throws(Failure) -> [String: JSON] {
        let json: JSON
        do { json = try JSON(parsing: text) } catch {
            throw Failure(.other, "The line is no JSON: \(error.explanation)")
        }
        guard case .object(let members) = json else { throw Failure(.other, "The line is no JSON object.") }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private static func order(_ reader: Reader, _ usual: Batch.Usual) throws(Failure) -> Order {
        guard let url = try reader.text("url") else { throw Failure(.url, "The line has no url.") }
        var request = try HTTP.Request(readingURL: url)
        if let text = try reader.text("body_b64") {
            guard let body = Data(base64Encoded: text) else { throw Failure(.other, "body_b64 is not base64.") }
            request.body = .bytes(body)
            request.method = .POST
        }
        if let method = try reader.text("method") { request.method = HTTP.Method(rawValue: method) }
        for line in try reader.texts("headers") {
            let (name, value) = try HTTP.Headers.field(line)
            request.headers.append(value ?? "", for: name)
        }
        if !request.headers.contains(.userAgent) { request.headers.append("netfetch/0.1", for: .userAgent) }
        if let user = try reader.text("user"), !request.headers.contains(.authorization) {
            request.headers.append(try HTTP.Headers.basic(user), for: .authorization)
        }

        var options = usual.options
        if let follow = try reader.number("follow") { options.redirects.limit = Int(exactly: follow.rounded()) ?? -1 }
        options.timeouts.limit(total: try reader.number("timeout"))
        if let decompresses = try reader.flag("decompress") { options.decompresses = decompresses }
        if let http2 = try reader.flag("http2") {
            let isClear = request.url.scheme?.lowercased() == "http"
            options.version = http2 ? (isClear ? .http2PriorKnowledge : .automatic) : .http1_1
        }

        var choice = usual.stack
        if let authorities = try reader.text("cacert") { choice.authorities = authorities }
        if try reader.flag("insecure") == true { choice.verifies = false }
        if let proxy = try reader.text("proxy") { choice.proxy = proxy }
        if let pins = try reader.text("pin") {
            choice.pins = [.init(curl: pins, host: request.url.host(percentEncoded: true) ?? "")]
        }
        return try Order(request: request, options: options, stack: choice, retrying: usual.retrying).validated()
    }

    /// Reads values of one kind; null is none.
    private struct Reader {
        let values: [String: JSON]

        func text(_ key: String) throws(Failure) -> String? {
            switch values[key] {
            case nil, .null: return nil
            case .string(let text): return text.isEmpty && key != "url" && key != "pin" ? nil : text
            default: throw Failure(key == "url" ? .url : .other, "\(key) is not a string.")
            }
        }

        func texts(_ key: String) throws(Failure) -> [String] {
            switch values[key] {
            case nil, .null: return []
            case .array(let values):
                var texts: [String] = []
                for value in values {
                    guard case .string(let text) = value else {
                        throw Failure(.other, "\(key) has what is not a string.")
                    }
                    texts.append(text)
                }
                return texts
            default: throw Failure(.other, "\(key) is not an array.")
            }
        }

        func number(_ key: String) throws(Failure) -> Double? {
            switch values[key] {
            case nil, .null: return nil
            case .integer(let number): return Double(number)
            case .unsigned(let number): return Double(number)
            case .number(let number): return number
            case .bool(let flag) where key == "follow": return flag ? 20 : 0
            default: throw Failure(.other, "\(key) is not a number.")
            }
        }

        func flag(_ key: String) throws(Failure) -> Bool? {
            switch values[key] {
            case nil, .null: return nil
            case .bool(let flag): return flag
            case .integer(let number): return number != 0
            case .unsigned(let number): return number != 0
            default: throw Failure(.other, "\(key) is not true or false.")
            }
        }
    }
}

extension Error {
    /// What a decoder reports, without its context.
    var explanation: String {
        switch self as? DecodingError {
        case .dataCorrupted(let context):
            (context.underlyingError as? NSError)?.userInfo["NSDebugDescription"] as? String ?? context.debugDescription
        case nil: "\(self)"
        default: "It has a value that cannot be read, such as a number out of range."
        }
    }
}
