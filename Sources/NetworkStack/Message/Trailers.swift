extension HTTP.Body {
    /// Fields that follow the content of a stream (RFC 9110 section 6.5), such as a digest of what was sent.
    ///
    ///     var stream = HTTP.Body.Stream(chunks)
    ///     stream.trailers = .init(["X-Checksum"]) { ["X-Checksum": checksum.value] }
    ///
    /// The names are announced in the head (`Trailer`), unless the request does that itself. Content with trailers is sent in
    /// chunks, over HTTP/1.1 (RFC 9112 section 7.1.2). Needs ``HTTP/Capability/requestTrailers``; HTTP/2 by prior knowledge
    /// is refused where the stack cannot send them over it.
    public struct Trailers: Sendable {
        /// The names of the fields that may follow.
        public let names: [HTTP.HeaderName]

        private let make: @Sendable () async throws -> HTTP.Headers

        /// Fields that are made when the content has been sent.
        ///
        /// - Parameters:
        ///   - names: The names of the fields. A name that is no token, or of a field that says how the message is framed,
        ///     routed, authenticated or read, refuses the fetch (``HTTPFetchError/invalidRequest(_:)``).
        ///   - making: Makes the fields, each time the content was sent. All of their names must be among `names`. What it
        ///     throws fails the request (``HTTPFetchError/requestBody(_:_:)``).
        public init(_ names: [HTTP.HeaderName], making: @escaping @Sendable () async throws -> HTTP.Headers) {
            self.names = names
            make = making
        }

        /// Makes the fields.
        ///
        /// - Throws: What making them throws, or ``HTTP/InvalidValue``.
        func made() async throws -> HTTP.Headers {
            let fields = try await make()
            for field in fields {
                guard names.contains(field.name) else {
                    throw HTTP.InvalidValue("The trailer \(field.name) was not announced.")
                }
                guard HTTP.Headers.isLegal(value: field.value) else {
                    throw HTTP.InvalidValue("The value of \(field.name) has a control character.")
                }
            }
            return fields
        }

        /// Refuses names that are none, or of fields that must stand in a head (RFC 9110 section 6.5.1).
        func validate() throws(HTTP.InvalidValue) {
            for name in names {
                guard HTTP.Headers.isLegal(name: name.rawValue) else {
                    throw HTTP.InvalidValue(
                        "A trailer's name is not a token: letters, digits and !#$%&'*+-.^_`|~ only."
                    )
                }
                guard !Self.ofHeads.contains(name) else {
                    throw HTTP.InvalidValue("\(name) must stand in the head; it cannot be a trailer.")
                }
            }
        }

        private static let ofHeads: Set<HTTP.HeaderName> = [
            .contentLength, .transferEncoding, .host, .connection, .trailer, .te, .upgrade, .expect, .range,
            .authorization, .proxyAuthorization, .cookie, .setCookie, .contentType, .contentEncoding, .contentRange,
            .cacheControl, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, "Pragma",
            "Max-Forwards", "Keep-Alive", "Proxy-Connection",
        ]
    }
}
