extension HTTP.Request {
    /// Returns the request with those of a stack's header fields that it does not have.
    func with(sessionHeaders: HTTP.Headers) -> HTTP.Request {
        var copy = self
        for field in sessionHeaders where !headers.contains(field.name) {
            if field.name == .contentType, body.isNone { continue }
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
