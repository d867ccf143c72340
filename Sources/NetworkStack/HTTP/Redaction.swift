internal import FoundationEssentials

extension HTTP {
    /// What is left out of logs and exports: the values of secret fields, and of URLs the user info, query and fragment.
    public struct Redaction: Sendable, Hashable {
        /// Header fields whose values are left out besides `Authorization`, `Cookie`, `Proxy-Authorization` and
        /// `Set-Cookie`.
        public var headers: Set<HeaderName>
        /// Whether the queries of URLs are shown. User info never is.
        public var showsQuery: Bool

        /// Makes a redaction.
        ///
        /// - Parameters:
        ///   - headers: Header fields whose values are left out, too.
        ///   - showsQuery: Whether the queries of URLs are shown.
        public init(headers: Set<HeaderName> = [], showsQuery: Bool = false) {
            self.headers = headers
            self.showsQuery = showsQuery
        }

        /// A URL as it may be shown.
        func text(of url: URL) -> String {
            guard showsQuery, let query = url.query(percentEncoded: true) else { return url.redactedDescription }
            let shown = url.redactedDescription
            return (shown.hasSuffix("?…") ? String(shown.dropLast(2)) : shown) + "?" + query
        }

        /// A field's value as it may be shown.
        func text(of field: Headers.Field) -> String {
            if isSecret(field.name) { return "<redacted>" }
            // These hold URLs, whose queries are as secret as the request's own.
            switch field.name {
            case .location, .contentLocation, .referer: return URL(string: field.value).map(text(of:)) ?? "<redacted>"
            // A URL among other things, or several.
            case .link, "Refresh":
                return field.value.utf8.contains { "?#@".utf8.contains($0) } ? "<redacted>" : field.value
            default: return field.value
            }
        }

        /// A field's value as it may be exported: queries stay, as with the request's own URL.
        func exported(_ field: Headers.Field) -> String {
            var redaction = self
            redaction.showsQuery = true
            return field.name == .referer
                ? redaction.text(of: field) : isSecret(field.name) ? "<redacted>" : field.value
        }

        /// Whether a field's value is left out.
        func isSecret(_ name: HeaderName) -> Bool { name.isSecret || headers.contains(name) }
    }
}
