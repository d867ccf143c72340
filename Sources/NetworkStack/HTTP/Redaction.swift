public import FoundationEssentials

extension HTTP {
    /// What logs and exports omit: the values of secret fields, and user info, query and fragment of URLs.
    ///
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and `Set-Cookie` are secret. So are fields whose name has a word for a secret,
    /// such as `X-API-Key`, `X-Auth-Token` and `Authentication-Info`. Of a challenge (`WWW-Authenticate`) only parameters that
    /// explain it are shown, such as `realm`. Descriptions of requests, responses and header fields follow the same rules.
    public struct Redaction: Sendable, Hashable {
        /// Further header fields whose values are omitted.
        public var headers: Set<HeaderName>
        /// Whether queries of URLs are shown. User info never is.
        public var showsQuery: Bool

        /// Makes a redaction.
        ///
        /// - Parameters:
        ///   - headers: Further header fields whose values are omitted.
        ///   - showsQuery: Whether queries of URLs are shown.
        public init(headers: Set<HeaderName> = [], showsQuery: Bool = false) {
            self.headers = headers
            self.showsQuery = showsQuery
        }

        /// A URL without its secret parts, for a log or an export.
        ///
        /// - Parameter url: The URL, of any scheme.
        /// - Returns: Its text without user info and fragment; a query is replaced by `?…`, unless queries are shown.
        public func text(of url: URL) -> String {
            guard showsQuery, let query = url.query(percentEncoded: true) else { return url.redactedDescription }
            let shown = url.redactedDescription
            return (shown.hasSuffix("?…") ? String(shown.dropLast(2)) : shown) + "?" + query
        }

        /// A field's value without its secret parts.
        func text(of field: Headers.Field) -> String {
            if isSecret(field.name) { return "<redacted>" }
            // Their URLs may have queries as secret as the request's.
            switch field.name {
            case .location, .contentLocation, .referer: return text(ofURL: field.value)
            case .wwwAuthenticate, .proxyAuthenticate:
                return Challenge.list(field.value).map(\.description).joined(separator: ", ")
            // The value has several URLs, or other text.
            case .link, "Refresh":
                return field.value.utf8.contains { "?#@".utf8.contains($0) } ? "<redacted>" : field.value
            default: return field.value.isURLWithSecrets ? text(ofURL: field.value) : field.value
            }
        }

        private func text(ofURL text: String) -> String { URL(string: text).map { self.text(of: $0) } ?? "<redacted>" }

        /// A field's value for an export: queries stay, as in the request's URL.
        func exported(_ field: Headers.Field) -> String {
            if isSecret(field.name) { return "<redacted>" }
            guard field.value.isURLWithSecrets, let url = URL(string: field.value), url.user() != nil else {
                return field.value
            }
            var redaction = self
            redaction.showsQuery = true
            return redaction.text(of: url)
        }

        /// Whether a field's value is omitted.
        func isSecret(_ name: HeaderName) -> Bool { name.isSecret || headers.contains(name) }
    }
}

extension String {
    /// Whether this looks like a URL, or a path, with user info, a query or a fragment.
    fileprivate var isURLWithSecrets: Bool {
        let scheme = utf8.prefix { $0.isTokenByte }
        return utf8[scheme.endIndex...].starts(with: (scheme.isEmpty ? "/" : "://").utf8)
            && !utf8.contains { $0.isBlank } && utf8.contains { "?#@".utf8.contains($0) }
    }
}
