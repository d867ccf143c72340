extension Network {
    /// Makes the request of a resource, afresh for every attempt, at once or later.
    public struct BaseRequestMaking<Request: HTTPRequestConvertible>: Sendable {
        /// Takes the made request. Only the first call counts; what it returns cancels what follows.
        public typealias Handler = @Sendable (Result<Request, any Error>) -> any Cancelable

        /// Makes a request and hands it over, exactly once.
        ///
        /// What it returns cancels the making. A maker that calls its handler later adds what the handler returns to that.
        public let make: @Sendable (_ handler: @escaping Handler) -> any Cancelable

        /// The endpoint whose requests these are, if they were made with ``endpoint(_:)``: for doubles and logs.
        public let endpoint: (any HTTPResourceEndpoint)?

        /// Makes requests with a closure.
        ///
        /// - Parameter make: Makes a request and hands it over.
        @inlinable
        public init(make: @escaping @Sendable (_ handler: @escaping Handler) -> any Cancelable) {
            self.init(endpoint: nil, make: make)
        }

        @usableFromInline
        init(
            endpoint: (any HTTPResourceEndpoint)?,
            make: @escaping @Sendable (_ handler: @escaping Handler) -> any Cancelable
        ) {
            self.endpoint = endpoint
            self.make = make
        }

        /// Makes the request of an endpoint.
        ///
        /// - Parameter endpoint: The endpoint; what it throws ends the fetch with `noRequest`.
        /// - Returns: The making.
        @inlinable
        public static func endpoint(_ endpoint: any HTTPResourceEndpoint) -> Self {
            Self(endpoint: endpoint) { handler in handler(Result { try Request(endpoint.makeRequest()) }) }
        }

        /// Makes the same request every time.
        ///
        /// - Parameter request: The request.
        /// - Returns: The making.
        @inlinable
        public static func request(_ request: HTTP.Request) -> Self {
            Self { handler in handler(Result { try Request(request) }) }
        }

        /// Makes requests with an asynchronous closure, in a task that a cancel cancels.
        ///
        /// - Parameter make: Makes a request.
        /// - Returns: The making.
        public static func task(_ make: @escaping @Sendable () async throws -> Request) -> Self {
            Self { handler in TaskCancelable.run(make, then: handler) }
        }
    }
}
