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
            guard Self.isLegal(name: field.name.rawValue) else {
                throw HTTP.InvalidValue(
                    "The name of a header field is not a token: letters, digits and !#$%&'*+-.^_`|~ only."
                )
            }
            guard Self.isLegal(value: field.value) else {
                throw HTTP.InvalidValue("The value of \(field.name) has a control character, such as a line break.")
            }
            switch field.name {
            case .contentLength, .transferEncoding, .connection, .upgrade, .host:
                throw HTTP.InvalidValue("\(field.name) belongs to one request; it cannot be sent with every one.")
            default: break
            }
        }
    }
}
