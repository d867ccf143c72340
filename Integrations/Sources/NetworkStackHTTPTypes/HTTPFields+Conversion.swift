public import HTTPTypes
public import NetworkStack

extension HTTP.Headers {
    /// Makes the fields of a message, in their order. Repeated fields stay separate.
    ///
    /// - Parameter fields: The fields. Their indexing strategies are lost (see `neverIndexed`).
    /// - Throws: ``HTTPTypesConversionError/invalidValue(name:)`` for a value that is not UTF-8.
    public init(_ fields: HTTPFields) throws(HTTPTypesConversionError) {
        var converted: [Field] = []
        for field in fields {
            // Bytes that are not UTF-8 cannot be kept: a value is text here.
            guard let value = field.withUnsafeBytesOfValue({ String(validating: $0, as: UTF8.self) }) else {
                throw .invalidValue(name: field.name.rawName)
            }
            converted.append(Field(name: HTTP.HeaderName(field.name.rawName), value: value))
        }
        self.init(converted)
    }
}

extension HTTPFields {
    /// Makes the fields of a message, in their order. Repeated fields stay separate.
    ///
    /// - Parameter headers: The fields. Values are text: received bytes that are not UTF-8 were read as Latin-1, and become UTF-8.
    /// - Throws: ``HTTPTypesConversionError/invalidName`` or ``HTTPTypesConversionError/invalidValue(name:)``. Neither occurs for
    ///   the fields of a response that a stack returned.
    public init(_ headers: HTTP.Headers) throws(HTTPTypesConversionError) {
        self.init()
        for field in headers {
            guard let name = HTTPField.Name(field.name.rawValue) else { throw .invalidName }
            guard field.value.utf8.allSatisfy({ $0 != 0 && $0 != 0x0A && $0 != 0x0D }) else {
                throw .invalidValue(name: field.name.rawValue)
            }
            append(HTTPField(name: name, lenientValue: Array(field.value.utf8)))
        }
    }

    /// The names of the fields that no intermediary may index (`indexingStrategy` is `.disallow`), because they are secret.
    public var neverIndexed: [HTTP.HeaderName] {
        compactMap { $0.indexingStrategy == .disallow ? HTTP.HeaderName($0.name.rawName) : nil }
    }
}

extension HTTP.Body.Trailers {
    /// Makes trailers whose values are computed after the body was sent.
    ///
    /// - Parameters:
    ///   - names: The names of the fields, which the request's head announces.
    ///   - making: Makes the fields, each time after the body was sent. Its error fails the request, and so does a field that was
    ///     not announced.
    public init(_ names: [HTTPField.Name], making: @escaping @Sendable () async throws -> HTTPFields) {
        self.init(names.map { HTTP.HeaderName($0.rawName) }, making: { try HTTP.Headers(try await making()) })
    }
}
