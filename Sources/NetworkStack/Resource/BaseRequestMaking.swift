extension Network {
    /// Makes the request of a resource, anew for every attempt, at once or later.
    public struct BaseRequestMaking<Request: HTTPRequestConvertible>: Sendable {
        /// Takes the request. Only the first call counts. The returned value cancels what follows.
        public typealias Handler = @Sendable (Result<Request, any Error>) -> any Cancelable

        /// Makes a request and passes it to the handler, exactly once.
        ///
        /// The returned value cancels the making. If the handler is called later, it also has to cancel what the handler returned.
        public let make: @Sendable (_ handler: @escaping Handler) -> any Cancelable

        /// The endpoint, if the maker was made with ``endpoint(_:)``: for doubles and logs.
        public let endpoint: (any HTTPResourceEndpoint)?

        /// Makes the request synchronously, if possible.
        @usableFromInline let makeAtOnce: (@Sendable () throws -> Request)?

        /// Makes requests with a closure.
        ///
        /// - Parameter make: Makes a request and passes it to the handler.
        public init(make: @escaping @Sendable (_ handler: @escaping Handler) -> any Cancelable) {
            self.make = make
            (endpoint, makeAtOnce) = (nil, nil)
        }

        @usableFromInline
        init(endpoint: (any HTTPResourceEndpoint)?, makeAtOnce: @escaping @Sendable () throws -> Request) {
            make = { handler in handler(Result { try makeAtOnce() }) }
            (self.endpoint, self.makeAtOnce) = (endpoint, makeAtOnce)
        }

        /// Converts the requests of another maker to another client's type.
        init<Other>(
            _ other: BaseRequestMaking<Other>,
            converting convert: @escaping @Sendable (Other) throws -> Request
        ) {
            endpoint = other.endpoint
            makeAtOnce = other.makeAtOnce.map { make in { @Sendable () throws -> Request in try convert(make()) } }
            make = { handler in
                other.make { made in handler(made.flatMap { request in Result { try convert(request) } }) }
            }
        }

        /// Makes the request of an endpoint.
        ///
        /// - Parameter endpoint: The endpoint. Its error ends the fetch with `noRequest`.
        /// - Returns: The maker.
        @inlinable
        public static func endpoint(_ endpoint: any HTTPResourceEndpoint) -> Self {
            Self(endpoint: endpoint) { try Request(endpoint.makeRequest()) }
        }

        /// Makes the same request every time.
        ///
        /// - Parameter request: The request.
        /// - Returns: The maker.
        @inlinable
        public static func request(_ request: HTTP.Request) -> Self {
            Self(endpoint: nil) { try Request(request) }
        }

        /// Makes requests with an asynchronous closure, in a task that is cancelled with the fetch.
        ///
        /// - Parameter make: Makes a request.
        /// - Returns: The maker.
        public static func task(_ make: @escaping @Sendable () async throws -> Request) -> Self {
            Self { handler in TaskCancelable.run(make, then: handler) }
        }
    }
}
