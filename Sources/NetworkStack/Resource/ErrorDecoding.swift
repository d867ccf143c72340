public import FoundationEssentials

extension Network {
    /// Makes an API's error from the body of an unsuccessful response.
    public struct ErrorDecoding<Payload, Metadata>: Sendable {
        /// Makes the error, or `nil` if the body has none.
        public let decode: @Sendable (Payload?, Metadata) -> (any Error)?

        /// Decodes with a closure.
        ///
        /// - Parameter decode: Makes the error from the body, if there is one, and its response. It runs on a queue of the stack.
        public init(decode: @escaping @Sendable (Payload?, Metadata) -> (any Error)?) { self.decode = decode }

        /// Decodes nothing.
        public static var dummy: Self { Self { _, _ in nil } }

        /// Decodes JSON. A body that cannot be decoded is no API error.
        ///
        /// - Parameters:
        ///   - type: The API's error.
        ///   - decoder: Makes a decoder for each body.
        /// - Returns: The decoding.
        public static func json<E: Error & Decodable & SendableMetatype>(
            _ type: E.Type = E.self,
            decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
        ) -> Self where Payload == Data {
            Self { payload, _ in payload.flatMap { try? decoder().decode(E.self, from: $0) } }
        }

        /// Decodes with a closure that needs only the body. It is not called without a body.
        ///
        /// - Parameter parse: Makes the error from the body, or returns `nil`.
        /// - Returns: The decoding.
        public static func parsing(_ parse: @escaping @Sendable (Payload) -> (any Error)?) -> Self {
            Self { payload, _ in payload.flatMap(parse) }
        }

        /// Decodes with a mapper. If the mapper throws, there is no API error. It is not called without a body.
        ///
        /// - Parameter mapper: Makes the error.
        /// - Returns: The decoding.
        public static func mapping(_ mapper: some ResponseMapper) -> Self where Payload == Data {
            Self { payload, _ in payload.flatMap { try? mapper.apiError(from: $0) } }
        }
    }
}
