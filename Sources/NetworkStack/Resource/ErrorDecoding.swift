public import FoundationEssentials

extension Network {
    /// Makes an API's own error from the payload of an unsuccessful response.
    public struct ErrorDecoding<Payload, Metadata>: Sendable {
        /// Makes the error, or `nil` if the payload holds none.
        public let decode: @Sendable (Payload?, Metadata) -> (any Error)?

        /// Decodes with a closure.
        ///
        /// - Parameter decode: Makes the error from the payload, if there is one, and its metadata. It runs on a queue of
        ///   the stack.
        public init(decode: @escaping @Sendable (Payload?, Metadata) -> (any Error)?) { self.decode = decode }

        /// Decodes nothing.
        public static var dummy: Self { Self { _, _ in nil } }

        /// Decodes JSON; a payload that does not decode is no API error.
        ///
        /// - Parameters:
        ///   - type: The API's error.
        ///   - decoder: Makes a decoder for each payload.
        /// - Returns: The decoding.
        public static func json<E: Error & Decodable & SendableMetatype>(
            _ type: E.Type = E.self,
            decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
        ) -> Self where Payload == Data {
            Self { payload, _ in payload.flatMap { try? decoder().decode(E.self, from: $0) } }
        }

        /// Decodes with a closure that needs the payload alone. It is not asked where there is none.
        ///
        /// - Parameter parse: Makes the error of the payload, or `nil`.
        /// - Returns: The decoding.
        public static func parsing(_ parse: @escaping @Sendable (Payload) -> (any Error)?) -> Self {
            Self { payload, _ in payload.flatMap(parse) }
        }

        /// Decodes as a mapper says; where the mapper throws there is no API error. It is not asked where there is no payload.
        ///
        /// - Parameter mapper: Makes the error.
        /// - Returns: The decoding.
        public static func mapping(_ mapper: some ResponseMapper) -> Self where Payload == Data {
            Self { payload, _ in payload.flatMap { try? mapper.apiError(from: $0) } }
        }
    }
}
