internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The default fields of requests on a session that the stack made.
struct OwnFields: Sendable {
    let userAgent: String?
    let sendsDefaultAccept: Bool

    init(_ configuration: Network.Configuration) {
        userAgent = configuration.userAgent
        sendsDefaultAccept = configuration.sendsDefaultAccept
    }

    /// Adds the default fields that the request does not have.
    ///
    /// - Parameters:
    ///   - fields: The request's fields.
    ///   - names: Their names in lower case.
    func add(to fields: inout [String: String], unless names: WireRequest.Names) {
        if !names.contains("user-agent"), let userAgent = userAgent ?? Platform.suppressed {
            fields["User-Agent"] = userAgent
        }
        guard let nothing = Platform.suppressed else { return }
        // URLSession adds `Accept: */*` by itself.
        if !sendsDefaultAccept, !names.contains("accept") { fields["Accept"] = nothing }
        for name in ["Accept-Language", "Connection"] where !names.contains(name.lowercased()) {
            fields[name] = nothing
        }
    }
}
