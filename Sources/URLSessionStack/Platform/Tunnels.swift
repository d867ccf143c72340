internal import Foundation
internal import NetworkStack

/// The origins that may be reached through a tunnel of an HTTP proxy that the environment names.
///
/// libcurl decides. Its versions read exceptions differently, so an exception counts here only if all versions honour it.
struct Tunnels: Sendable {
    /// No origin.
    static let none = Tunnels(environment: [:])

    private let areOpened: Bool
    /// Names and addresses, in lower case.
    private let exceptions: [String]

    init(environment: [String: String]) {
        func first(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
        let proxy = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        let list = first("no_proxy", "NO_PROXY") ?? ""
        // A proxy without a scheme is an HTTP proxy.
        areOpened = proxy.map { !($0.lowercased().hasPrefix("socks") && $0.contains("://")) && list != "*" } ?? false
        // At a blank without a comma, newer versions stop reading.
        exceptions = list.lowercased().split(separator: ",")
            .map { Substring($0.utf8.withoutOuterBlanks) }
            .prefix { !$0.contains(" ") && !$0.contains("\t") }
            .map(String.init)
    }

    /// Whether an origin may be reached through a tunnel.
    func mayLead(to origin: HTTP.Origin) -> Bool {
        guard areOpened, origin.scheme == .https else { return false }
        if let address = origin.ipv4Address { return !exceptions.contains(address) }
        return !exceptions.contains { ".\(origin.host)".hasSuffix($0.hasPrefix(".") ? $0 : ".\($0)") }
    }
}
