extension HTTP.Request {
    /// Returns the request with those of a stack's header fields that it does not have. TRACE gets no secret ones, because the
    /// server returns them (RFC 9110 section 9.3.8).
    func with(sessionHeaders: HTTP.Headers, sensitive: Set<HTTP.HeaderName>) -> HTTP.Request {
        var copy = self
        for field in sessionHeaders where !headers.contains(field.name) {
            if field.name == .contentType, body.isNone { continue }
            if method == .TRACE, field.name.isSecret || sensitive.contains(field.name) { continue }
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
