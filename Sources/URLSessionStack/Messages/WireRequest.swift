internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A hop in URLSession's terms.
///
/// On Linux, fields are set as a whole dictionary. Setting them one by one would change the case of their names, and drop fields
/// that URLSession considers illegal without an error.
///
/// Blank fields turn off two habits of libcurl. It would send a body of known length in chunks, because it is a stream; only
/// streams can be sent again from the start. And it would announce an empty body for methods that need none.
struct WireRequest {
    /// Names of header fields, in lower case.
    typealias Names = Dictionary<String, String>.Keys

    let urlRequest: URLRequest

    init(_ hop: HTTPHop, content: SentContent, ownFields: OwnFields?) {
        var request = URLRequest(url: hop.url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.timeoutInterval = Platform.ownTimeout
        request.httpShouldHandleCookies = false
        request.httpMethod = hop.request.method.rawValue

        let (lines, names) = Self.joined(hop.request.headers)
        var fields = lines.filter { name, value in
            switch name.lowercased() {
            case "content-length": false
            // Without a body nothing waits for the server's 100 Continue (RFC 9110 section 10.1.1).
            case "expect": !content.isNone || value.lowercased() != "100-continue"
            default: true
            }
        }
        ownFields?.add(to: &fields, unless: names)
        // A part of a compressed body could not be decompressed (RFC 9110 section 14).
        if names.contains("range"), !fields.keys.contains(where: { $0.lowercased() == "accept-encoding" }) {
            fields["Accept-Encoding"] = "identity"
        }
        if let nothing = Platform.suppressed {
            if content.isNone {
                let announcesNothing =
                    hop.request.body.isNone && hop.request.method != .POST && hop.request.method != .PUT
                    && hop.request.method != .PATCH
                fields["Content-Length"] = announcesNothing ? nothing : "0"
            } else {
                fields["Transfer-Encoding"] = nothing
                for name in ["Content-Type", "Expect"] where !names.contains(name.lowercased()) {
                    fields[name] = nothing
                }
            }
        }
        if !content.isNone { fields["Content-Length"] = String(content.length) }
        request.allHTTPHeaderFields = fields
        urlRequest = request
    }

    /// Header fields as a dictionary: lines of one name are joined (RFC 9110 section 5.3, RFC 6265 section 5.4).
    ///
    /// - Returns: The fields under their first spelling, and their names in lower case.
    static func joined(_ headers: HTTP.Headers) -> (fields: [String: String], names: Names) {
        let lines = headers.fields
        var fields: [String: String] = Dictionary(minimumCapacity: lines.count)
        var spellings: [String: String] = Dictionary(minimumCapacity: lines.count)
        for field in lines {
            let name = field.name.rawValue.lowercased()
            let value = String(Substring(field.value.utf8.withoutOuterBlanks))
            if let spelling = spellings[name], let first = fields[spelling] {
                fields[spelling] = first + (name == "cookie" ? "; " : ", ") + value
            } else {
                spellings[name] = field.name.rawValue
                fields[field.name.rawValue] = value
            }
        }
        return (fields, spellings.keys)
    }
}
