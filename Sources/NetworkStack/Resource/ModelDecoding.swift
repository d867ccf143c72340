public import FoundationEssentials

/// Makes a model from a payload and the response it came with.
public struct ModelDecoding<T, Payload, Metadata>: Sendable {
    /// Makes the model.
    public let decode: @Sendable (Payload, Metadata) throws -> T

    /// Decodes with a closure.
    ///
    /// - Parameter decode: Makes the model from the payload and its metadata.
    public init(decode: @escaping @Sendable (Payload, Metadata) throws -> T) { self.decode = decode }
}

extension ModelDecoding where Payload == Data {
    /// Decodes JSON.
    ///
    /// An empty payload never reaches the decoder, and neither does that of a 204 or a 205, which have none, whatever came
    /// with them: an optional model is `nil`, any other fails with ``EmptyPayloadError``.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - decoder: Makes a decoder for each payload.
    /// - Returns: The decoding. It throws what the decoder throws, or ``EmptyPayloadError``.
    public static func json(
        _ type: T.Type = T.self,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> Self where T: Decodable & SendableMetatype {
        Self { payload, metadata in
            guard hasContent(payload, metadata) else { return try empty() }
            return try decoder().decode(T.self, from: payload)
        }
    }

    /// Decodes as a mapper says. An empty payload, and that of a 204 or a 205, never reaches it, as in ``json(_:decoder:)``.
    ///
    /// - Parameter mapper: Makes the model.
    /// - Returns: The decoding. It throws what the mapper throws, ``UnexpectedPayloadError`` where the mapper has no model, or
    ///   ``EmptyPayloadError``.
    public static func mapping<Mapper: ResponseMapper>(_ mapper: Mapper) -> Self where Mapper.Model == T {
        Self { payload, metadata in
            guard hasContent(payload, metadata) else { return try empty() }
            guard let model = try mapper.model(from: payload) else {
                throw UnexpectedPayloadError(expected: "\(T.self)", count: payload.count)
            }
            return model
        }
    }

    /// Whether there is something to decode. A 204 and a 205 have no content (RFC 9110 section 15.3), whatever a server sends.
    private static func hasContent(_ payload: Data, _ metadata: Metadata) -> Bool {
        let status = (metadata as? any HTTPResponseConvertible)?.httpResponse?.status
        return !payload.isEmpty && status != .noContent && status != .resetContent
    }

    /// The model of an empty payload, if it has one.
    private static func empty() throws(EmptyPayloadError) -> T {
        guard let optional = T.self as? any ExpressibleByNilLiteral.Type,
            let none = optional.init(nilLiteral: ()) as? T
        else { throw EmptyPayloadError() }
        return none
    }
}

extension ModelDecoding {
    /// Decodes with a closure that needs the payload alone.
    ///
    /// - Parameter parse: Makes the model of the payload.
    /// - Returns: The decoding. It throws what the closure throws.
    public static func parsing(_ parse: @escaping @Sendable (Payload) throws -> T) -> Self {
        Self { payload, _ in try parse(payload) }
    }
}

extension ModelDecoding where T == Void {
    /// Takes any payload and makes nothing of it, for responses whose status says all.
    public static var none: Self { Self { _, _ in } }
}

/// A payload was empty where a model was to be made of it.
public struct EmptyPayloadError: DescribedError, Hashable {
    /// Makes one.
    public init() {}

    /// What to do about it.
    public var description: String { "The response has no content to decode; decode it as an optional or as nothing." }
}
