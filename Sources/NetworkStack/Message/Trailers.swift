extension HTTP.Body {
    /// Fields that follow the body of a stream (RFC 9110 section 6.5), such as a digest of the bytes.
    ///
    ///     var stream = HTTP.Body.Stream(chunks)
    ///     stream.trailers = .init(["X-Checksum"]) { ["X-Checksum": checksum.value] }
    ///
    /// The head announces their names (`Trailer`), unless the request does that itself. Over HTTP/1.1, a body with trailers is
    /// sent in chunks (RFC 9112 section 7.1.2). Needs ``HTTP/Capability/requestTrailers``. HTTP/2 by prior knowledge is refused
    /// if the stack cannot send trailers over it.
    public struct Trailers: Sendable {
        /// The names of the fields that may follow.
        public let names: [HTTP.HeaderName]

        private let make: @Sendable () async throws -> HTTP.Headers

        /// Makes trailers whose values are computed after the stream has yielded its last chunk. Up to 256 KiB of the body may not
        /// be sent yet.
        ///
        /// - Parameters:
        ///   - names: The names of the fields. The fetch is refused (``HTTPFetchError/invalidRequest(_:)``) if one is no token,
        ///     or is a field for framing, routing, authentication or content coding.
        ///   - making: Makes the fields, each time after the stream's last chunk, unless the fetch has ended. All of their names
        ///     must be in `names`. Its error fails the request (``HTTPFetchError/requestBody(_:_:)``).
        public init(_ names: [HTTP.HeaderName], making: @escaping @Sendable () async throws -> HTTP.Headers) {
            self.names = names
            make = making
        }

        /// Makes the fields.
        ///
        /// - Throws: The error of the closure, or ``HTTP/InvalidValue``.
        func made() async throws -> HTTP.Headers {
            let fields = try await make()
            for field in fields {
                guard names.contains(field.name) else {
                    throw HTTP.InvalidValue("The trailer \(field.name) was not announced.")
                }
                try field.check()
            }
            return fields
        }

        /// Refuses names that are no tokens, or of fields that belong in a head (RFC 9110 section 6.5.1).
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
