import CurlStack
import Foundation
import NetworkStack

/// The head of a request as it is sent: the engine's fields, and those that the stack adds (in `make compare`, a server
/// proves that it is the same).
struct SentHead {
    let line: String
    private let headers: HTTP.Headers

    /// Describes the head of a hop.
    ///
    /// - Parameters:
    ///   - hop: The hop.
    ///   - stack: What sends it.
    ///   - version: The version of HTTP that is spoken.
    init(_ hop: HTTPHop, over stack: StackChoice, version: HTTP.Version) {
        let request = hop.request
        // What follows the authority.
        let target = hop.urlText.drop { $0 != ":" }.dropFirst(3).drop { !"/?".contains($0) }
        let path = target.hasPrefix("/") ? String(target) : "/" + target
        let proxy = stack.proxy(for: hop.origin)
        let isProxied = hop.origin.scheme == .http && (proxy?.scheme.isHTTP ?? false)
        line = "\(request.method) \(isProxied ? "\(hop.origin)" : "")\(path) \(version)"

        var own = HTTP.Headers(request.headers.filter { $0.name != .contentLength && $0.name != .host })
        var first: HTTP.Headers = [:]
        first.append(request.headers[.host] ?? Self.authority(of: hop), for: .host)
        if stack.sendsDefaultAccept, !own.contains(.accept) { first.append("*/*", for: .accept) }
        if isProxied, !own.contains("Proxy-Connection") { first.append("Keep-Alive", for: "Proxy-Connection") }
        if hop.options.decompresses, !own.contains(.acceptEncoding) {
            own.append(own.contains(.range) ? "identity" : Self.codings(of: stack), for: .acceptEncoding)
        }
        switch Self.length(of: hop) {
        // URLSession reads such a body to its end first.
        case .none where stack.backend == .urlsession: break
        case .none where version.major < 2: first.append("chunked", for: .transferEncoding)
        case .some(let length?): own.append("\(length)", for: .contentLength)
        default: break
        }
        headers = HTTP.Headers(Array(first) + (stack.backend == .urlsession ? Self.joined(own) : Array(own)))
    }

    private static func codings(of stack: StackChoice) -> String {
        let known = CurlLibrary.shared.contentCodings
        // URLSession leaves them to libcurl, whose order is another.
        let order = stack.backend == .curl ? known : ["deflate", "gzip", "br", "zstd"].filter(known.contains)
        return order.joined(separator: ", ")
    }

    /// Fields as URLSession sends them: one of each name.
    private static func joined(_ fields: HTTP.Headers) -> [HTTP.Headers.Field] {
        var joined: [HTTP.Headers.Field] = []
        for field in fields {
            if let index = joined.firstIndex(where: { $0.name == field.name }) {
                joined[index].value += ", " + field.value
            } else {
                joined.append(field)
            }
        }
        return joined
    }

    /// The lines, without the query and the values of secret fields.
    var lines: [String] { [shownLine] + "\(headers)".split(separator: "\n").map(String.init) }

    private var shownLine: String {
        guard let mark = line.firstIndex(of: "?"), let end = line.lastIndex(of: " ") else { return line }
        return line[..<mark] + "?…" + line[end...]
    }

    /// The length of the head over HTTP/1.1, in bytes, with its last line.
    var byteCount: Int64 {
        Int64(headers.reduce(line.utf8.count + 4) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4 })
    }

    private static func authority(of hop: HTTPHop) -> String {
        let text = "\(hop.origin)"
        return String(text.drop { $0 != ":" }.dropFirst(3))
    }

    /// The length that is announced: `.some(nil)` if none has to be, `nil` if it is not known.
    private static func length(of hop: HTTPHop) -> Int64?? {
        switch hop.request.body {
        case .none: [.POST, .PUT, .PATCH].contains(hop.request.method) ? 0 : .some(nil)
        case .bytes(let data): Int64(data.count)
        case .file, .stream: hop.source?.length.map { .some($0) }
        }
    }
}
