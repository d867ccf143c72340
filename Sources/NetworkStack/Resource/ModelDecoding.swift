public import FoundationEssentials

/// Makes a model from a body and its response.
public struct ModelDecoding<T, Payload, Metadata>: Sendable {
    /// Makes the model.
    public let decode: @Sendable (Payload, Metadata) throws -> T

    /// Decodes with a closure.
    ///
    /// - Parameter decode: Makes the model from the body and its response.
    public init(decode: @escaping @Sendable (Payload, Metadata) throws -> T) { self.decode = decode }
}

extension ModelDecoding where Payload == Data {
    /// Decodes JSON.
    ///
    /// An empty body never reaches the decoder, and neither does that of a 204 or a 205: an optional model is `nil`, any other
    /// fails with ``EmptyBodyError``.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - decoder: Makes a decoder for each body.
    /// - Returns: The decoding. It throws the decoder's error, or ``EmptyBodyError``.
    public static func json(
        _ type: T.Type = T.self,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) -> Self where T: Decodable & SendableMetatype {
        Self { payload, metadata in
            guard hasContent(payload, metadata) else { return try empty() }
            return try decoder().decode(T.self, from: payload)
        }
    }

    /// Decodes with a mapper. An empty body, and that of a 204 or a 205, never reaches it, as in ``json(_:decoder:)``.
    ///
    /// - Parameter mapper: Makes the model.
    /// - Returns: The decoding. It throws the mapper's error, ``UnexpectedBodyError`` if the mapper has no model, or
    ///   ``EmptyBodyError``.
    public static func mapping<Mapper: ResponseMapper>(_ mapper: Mapper) -> Self where Mapper.Model == T {
        Self { payload, metadata in
            guard hasContent(payload, metadata) else { return try empty() }
            guard let model = try mapper.model(from: payload) else {
                throw UnexpectedBodyError(expected: "\(T.self)", count: payload.count)
            }
            return model
        }
    }

    /// Whether there is something to decode. A 204 and a 205 have no body (RFC 9110 section 15.3), whatever a server sends.
    private static func hasContent(_ payload: Data, _ metadata: Metadata) -> Bool {
        let status = (metadata as? any HTTPResponseConvertible)?.httpResponse?.status
        return !payload.isEmpty && status != .noContent && status != .resetContent
    }

    /// The model of an empty body, if it has one.
    private static func empty() throws(EmptyBodyError) -> T {
        guard let optional = T.self as? any ExpressibleByNilLiteral.Type,
            let none = optional.init(nilLiteral: ()) as? T
        else { throw EmptyBodyError() }
        return none
    }
}

extension ModelDecoding {
    /// Decodes with a closure that needs only the body.
    ///
    /// - Parameter parse: Makes the model from the body.
    /// - Returns: The decoding. It throws the closure's error.
    public static func parsing(_ parse: @escaping @Sendable (Payload) throws -> T) -> Self {
        Self { payload, _ in try parse(payload) }
    }
}

extension ModelDecoding where T == Void {
    /// Ignores the body, for responses with a status only.
    public static var none: Self { Self { _, _ in } }
}

/// A body was empty, and the model is not optional.
public struct EmptyBodyError: DescribedError, Hashable {
    /// Makes the error.
    public init() {}

    /// What to do about it.
    public var description: String { "The response has no body to decode; decode it as an optional or as nothing." }
}
