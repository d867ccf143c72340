/// The namespace of the concrete stacks and of what every stack shares.
public enum Network {
    /// What a fetch yields: the payload, and the response it came with.
    public struct Value<T, Response> {
        /// The payload.
        public let value: T

        /// The response the payload came with.
        public let response: Response

        /// Joins a payload and its response.
        public init(value: T, response: Response) {
            self.value = value
            self.response = response
        }

        /// Replaces the payload and keeps the response.
        ///
        /// - Parameter transform: Makes the new payload from the old one and the response.
        /// - Returns: The new payload with the same response.
        /// - Throws: What `transform` throws.
        public func mapValue<U, E: Error>(_ transform: (T, Response) throws(E) -> U) throws(E) -> Value<U, Response> {
            Value<U, Response>(value: try transform(value, response), response: response)
        }
    }
}

extension Network.Value: Sendable where T: Sendable, Response: Sendable {}
extension Network.Value: Equatable where T: Equatable, Response: Equatable {}
