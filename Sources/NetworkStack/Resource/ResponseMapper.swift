public import FoundationEssentials

/// Makes both the model of a success and the API's own error of a failure, for an API that answers alike everywhere.
///
/// Where both are decodable, nothing has to be written but their types:
///
///     struct UserMapper: ResponseMapper {
///         typealias Model = User
///         typealias APIError = ServerError
///     }
///
/// A resource takes one half of it, a decoding the other: ``Network/ErrorDecoding/mapping(_:)`` and
/// ``ModelDecoding/mapping(_:)``.
public protocol ResponseMapper<Model, APIError>: Sendable {
    /// What a successful response carries.
    associatedtype Model
    /// What an unsuccessful response carries.
    associatedtype APIError: Error

    /// Makes the model.
    ///
    /// - Parameter data: The payload of a successful response; never empty.
    /// - Returns: The model, or `nil` if the payload has none.
    /// - Throws: Why there is no model.
    func model(from data: Data) throws -> Model?

    /// Makes the API's error.
    ///
    /// - Parameter data: The payload of an unsuccessful response; never empty.
    /// - Returns: The error, or `nil` if the payload has none.
    /// - Throws: Anything; it counts as `nil`.
    func apiError(from data: Data) throws -> APIError?

    /// Makes the decoder of the default implementations, for dates and the like.
    ///
    /// - Returns: A decoder of its own for each payload.
    func makeDecoder() -> JSONDecoder
}

extension ResponseMapper {
    /// A decoder that decodes dates and data as it does by default.
    public func makeDecoder() -> JSONDecoder { JSONDecoder() }
}

extension ResponseMapper where Model: Decodable {
    /// Decodes the model from JSON.
    ///
    /// - Throws: `DecodingError`, or what the model's own decoding throws.
    public func model(from data: Data) throws -> Model? { try makeDecoder().decode(Model.self, from: data) }
}

extension ResponseMapper where APIError: Decodable {
    /// Decodes the API's error from JSON.
    ///
    /// - Throws: `DecodingError`, or what the error's own decoding throws; it counts as none.
    public func apiError(from data: Data) throws -> APIError? { try makeDecoder().decode(APIError.self, from: data) }
}

/// A mapper found no model in a payload.
public struct UnexpectedPayloadError: DescribedError, Hashable {
    /// The type that was expected.
    public let expected: String
    /// The payload's length in bytes. The payload itself may be secret.
    public let count: Int

    /// Makes one.
    ///
    /// - Parameters:
    ///   - expected: The type that was expected.
    ///   - count: The payload's length in bytes.
    public init(expected: String, count: Int) {
        self.expected = expected
        self.count = count
    }

    /// What was expected, in a sentence.
    public var description: String { "No \(expected) could be made of the response's content of \(count) bytes." }
}
