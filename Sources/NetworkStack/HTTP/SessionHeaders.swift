extension Network.Configuration {
    /// What an app that talks to one API usually shares between its requests: JSON, patience of 20 and 40 seconds, ten
    /// connections.
    ///
    /// - Parameters:
    ///   - contentType: What content is, unless its request says something else.
    ///   - requestTimeout: How long no byte may come or go: the idle timeout.
    ///   - resourceTimeout: How long the whole fetch may take: the total timeout.
    ///   - connectionsPerHost: Transfers under way to one host over HTTP/1.1.
    ///   - headers: More header fields of every request.
    /// - Returns: The configuration.
    public static func api(
        contentType: HTTP.MediaType = .json,
        requestTimeout: Duration = .seconds(20),
        resourceTimeout: Duration = .seconds(40),
        connectionsPerHost: Int = 10,
        headers: HTTP.Headers = [:]
    ) -> Self {
        var configuration = Self()
        configuration.headers = headers
        if !headers.contains(.contentType) { configuration.headers.contentType = contentType }
        configuration.options.timeouts.idle = requestTimeout
        configuration.options.timeouts.total = resourceTimeout
        configuration.connections.perHost = connectionsPerHost
        return configuration
    }
}

extension HTTP.Request {
    /// The request with those of a stack's header fields that it has not itself.
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
    /// Refuses fields that cannot be those of every request.
    func checkForSession() throws(HTTP.Refusal) {
        for field in self {
            guard Self.isLegal(name: field.name.rawValue) else {
                throw .invalidOptions(
                    "The name of a header field is not a token: letters, digits and !#$%&'*+-.^_`|~ only."
                )
            }
            guard Self.isLegal(value: field.value) else {
                throw .invalidOptions("The value of \(field.name) has a control character, such as a line break.")
            }
            switch field.name {
            case .contentLength, .transferEncoding, .connection, .upgrade, .host:
                throw .invalidOptions("\(field.name) belongs to one request; it cannot be sent with every one.")
            default: break
            }
        }
    }
}
