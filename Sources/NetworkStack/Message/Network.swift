/// The namespace of the concrete stacks and their shared types.
public enum Network {
    /// The version of this package (Semantic Versioning): the newest release, or the next one if changes are unreleased.
    public static let version = "0.1.0"

    /// The result of a fetch: a value and its response.
    public struct Value<T, Response> {
        /// The body, or the value that was decoded from it.
        public let value: T

        /// The response.
        public let response: Response

        /// Makes a result.
        ///
        /// - Parameters:
        ///   - value: The value.
        ///   - response: Its response.
        public init(value: T, response: Response) {
            self.value = value
            self.response = response
        }

        /// Replaces the value and keeps the response.
        ///
        /// - Parameter transform: Makes the new value from the old one and the response.
        /// - Returns: The new value with the same response.
        /// - Throws: The error of `transform`.
        public func mapValue<U, E: Error>(_ transform: (T, Response) throws(E) -> U) throws(E) -> Value<U, Response> {
            Value<U, Response>(value: try transform(value, response), response: response)
        }
    }
}

extension Network.Value: Sendable where T: Sendable, Response: Sendable {}
extension Network.Value: Equatable where T: Equatable, Response: Equatable {}
