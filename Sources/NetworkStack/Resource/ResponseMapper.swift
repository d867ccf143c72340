public import FoundationEssentials

/// Makes both the model of a success and the API's error of a failure, for an API with one format.
///
/// If both are decodable, only their types have to be named:
///
///     struct UserMapper: ResponseMapper {
///         typealias Model = User
///         typealias APIError = ServerError
///     }
///
/// A resource uses one half of it, a decoding the other: ``Network/ErrorDecoding/mapping(_:)`` and ``ModelDecoding/mapping(_:)``.
public protocol ResponseMapper<Model, APIError>: Sendable {
    /// The model of a successful response.
    associatedtype Model
    /// The error of an unsuccessful response.
    associatedtype APIError: Error

    /// Makes the model.
    ///
    /// - Parameter data: The body of a successful response; never empty.
    /// - Returns: The model, or `nil` if the body has none.
    /// - Throws: Why there is no model.
    func model(from data: Data) throws -> Model?

    /// Makes the API's error.
    ///
    /// - Parameter data: The body of an unsuccessful response; never empty.
    /// - Returns: The error, or `nil` if the body has none.
    /// - Throws: Any error; it counts as `nil`.
    func apiError(from data: Data) throws -> APIError?

    /// Makes the decoder of the default implementations, for dates and similar settings.
    ///
    /// - Returns: A new decoder for each body.
    func makeDecoder() -> JSONDecoder
}

extension ResponseMapper {
    /// Returns a decoder with default settings.
    public func makeDecoder() -> JSONDecoder { JSONDecoder() }
}

extension ResponseMapper where Model: Decodable {
    /// Decodes the model from JSON.
    ///
    /// - Throws: `DecodingError`, or the error of the model's decoding.
    public func model(from data: Data) throws -> Model? { try makeDecoder().decode(Model.self, from: data) }
}

extension ResponseMapper where APIError: Decodable {
    /// Decodes the API's error from JSON.
    ///
    /// - Throws: `DecodingError`, or the error of the decoding; it counts as `nil`.
    public func apiError(from data: Data) throws -> APIError? { try makeDecoder().decode(APIError.self, from: data) }
}

/// A mapper found no model in a body.
public struct UnexpectedBodyError: DescribedError, Hashable {
    /// The type that was expected.
    public let expected: String
    /// The body's length in bytes. The body itself may be secret.
    public let count: Int

    /// Makes the error.
    ///
    /// - Parameters:
    ///   - expected: The type that was expected.
    ///   - count: The body's length in bytes.
    public init(expected: String, count: Int) {
        self.expected = expected
        self.count = count
    }

    /// The expected type, in a sentence.
    public var description: String { "No \(expected) could be made of the response's body of \(count) bytes." }
}
