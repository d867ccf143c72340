extension HTTP.Request {
    /// Returns the request with those of a stack's header fields that it does not have. TRACE gets no secret ones, because the
    /// server returns them (RFC 9110 section 9.3.8).
    ///
    /// - Parameters:
    ///   - sessionHeaders: The stack's fields.
    ///   - sensitive: The names of further secret fields.
    ///   - hasMoved: Whether an interceptor sends the request to another origin, which gets no credentials.
    /// - Returns: The request.
    func with(sessionHeaders: HTTP.Headers, sensitive: Set<HTTP.HeaderName>, hasMoved: Bool) -> HTTP.Request {
        var copy = self
        for field in sessionHeaders where !headers.contains(field.name) {
            if field.name == .contentType, body.isNone { continue }
            let isSensitive = sensitive.contains(field.name)
            if method == .TRACE, isSensitive || field.name.isSecret { continue }
            if hasMoved, isSensitive || HTTP.HeaderName.boundToOrigin.contains(field.name) { continue }
            copy.headers.append(field.value, for: field.name)
        }
        return copy
    }
}

extension HTTP.Headers {
    /// Refuses fields that cannot be part of every request.
    func checkForSession() throws(HTTP.InvalidValue) {
        for field in self {
            try field.check()
            switch field.name {
            case .contentLength, .transferEncoding, .connection, .upgrade, .host:
                throw HTTP.InvalidValue("\(field.name) belongs to one request; it cannot be sent with every one.")
            default: break
            }
        }
    }
}
