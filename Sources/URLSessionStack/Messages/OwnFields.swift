internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The fields that the requests of a stack's own session have or do not have by default.
struct OwnFields: Sendable {
    let userAgent: String?
    let acceptsAnything: Bool

    /// Adds them, unless the request has its own.
    ///
    /// - Parameters:
    ///   - fields: The request's fields.
    ///   - names: Their names in lower case.
    func add(to fields: inout [String: String], unless names: WireRequest.Names) {
        if !names.contains("user-agent"), let userAgent = userAgent ?? Platform.suppressed {
            fields["User-Agent"] = userAgent
        }
        guard let nothing = Platform.suppressed else { return }
        // URLSession says `Accept: */*` itself.
        if !acceptsAnything, !names.contains("accept") { fields["Accept"] = nothing }
        for name in ["Accept-Language", "Connection"] where !names.contains(name.lowercased()) {
            fields[name] = nothing
        }
    }
}
