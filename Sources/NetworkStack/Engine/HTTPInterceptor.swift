public import FoundationEssentials

/// Intercepts each attempt of a fetch in one function. It may change the request, answer without the network, and change the status,
/// the header fields and the body of the response.
///
///     struct Signer: HTTPInterceptor {
///         func intercept(_ request: HTTP.Request, next: HTTP.Next) async throws -> HTTP.Reply {
///             var request = request
///             request.headers[.authorization] = sign(request)
///             return try await next(request)
///         }
///     }
///
/// It stands in the same lists as other interceptors, and runs on every stack (``HTTPResourceInterceptor/adapted()``). The functions
/// run after all interceptors have had the request, the stack's around the resource's. They run once per attempt, so again in a retry,
/// and not for a redirect: they get the response that the last redirect led to. What an attempt has come to after them is transformed,
/// reported and voted on like any other. Each function runs in a task, which is cancelled when its attempt ends.
public protocol HTTPInterceptor: HTTPResourceInterceptor where Request == HTTP.Request, Response == HTTP.Response {
    /// Intercepts an attempt.
    ///
    /// - Parameters:
    ///   - request: The request, without what the stack adds (its header fields, cookies and credentials).
    ///   - next: Sends a request, this one or another; see ``HTTP/Next``. Without a call of it, nothing is sent.
    /// - Returns: The response. For a stream it is returned when its head has come; return it without reading the body, unless the body
    ///   is replaced.
    /// - Throws: An error thrown before `next` was called ends the attempt with ``HTTPFetchError/noRequest(_:)``. After that, an error of
    ///   `next` is passed on, and any other ends it with ``HTTPFetchError/interceptor(_:)``. If the body of a stream was to come, the
    ///   fetch is over, without a retry.
    func intercept(_ request: HTTP.Request, next: HTTP.Next) async throws -> HTTP.Reply
}

extension HTTPInterceptor {
    /// `true`.
    public var interceptsAttempts: Bool { true }

    /// `false`: the function does that.
    public var interceptsRequests: Bool { false }

    /// `false`: the function does that.
    public var interceptsBody: Bool { false }
}

extension HTTP {
    /// Sends the request of an attempt, by way of the interceptors that follow.
    ///
    /// The request is checked, and the rules of trust, cookies and credentials apply to its URL, as if the fetch had begun with it. It
    /// returns whatever the status is. It throws the stack's `FetchError` if there is no response. It may be called once; a second call
    /// throws ``NextCalledAgain``. A failure that is final (``HTTPError/isFinal``), such as a server that is not trusted, ends the
    /// fetch: `next` throws it, and what the function does then has no effect.
    public struct Next: Sendable {
        private let send: @Sendable (Request) async throws -> Reply

        /// Makes one of a closure, such as for a test of an interceptor.
        ///
        /// - Parameter send: Answers the request.
        public init(_ send: @escaping @Sendable (Request) async throws -> Reply) { self.send = send }

        /// Sends a request.
        ///
        /// - Parameter request: The request.
        /// - Returns: The response, whatever its status is. For a stream it comes with its head.
        /// - Throws: The stack's `FetchError`, or ``NextCalledAgain``.
        public func callAsFunction(_ request: Request) async throws -> Reply { try await send(request) }
    }

    /// A response with its body, as interceptors get and return it.
    public struct Reply: Sendable {
        /// The body. Of a fetch that collects its body, all of it is there.
        public typealias Body = ByteStream<HTTPFetchError<Response, any Error>>

        /// The head, with the metrics of the fetch so far. Whether its status is a failure is decided after the interceptors.
        public var response: Response
        /// The body. Header fields about it (`Content-Length`, `Content-Type`, `Content-Encoding`) do not change with it.
        public var body: Body

        /// Makes a reply.
        ///
        /// - Parameters:
        ///   - response: The head.
        ///   - body: The body.
        public init(_ response: Response, body: Data = Data()) {
            self.init(response, body: Body(body))
        }

        /// Makes a reply with a body that is read piece by piece.
        ///
        /// - Parameters:
        ///   - response: The head.
        ///   - body: The body. A fetch that collects it reads at most ``HTTP/Options/Limits/body``.
        public init(_ response: Response, body: Body) {
            (self.response, self.body) = (response, body)
        }
    }

    /// An interceptor has called `next` a second time. To send a request again, vote for a retry.
    public struct NextCalledAgain: Error, Hashable {}
}

extension HTTP.NextCalledAgain: DescribedError {
    /// The error in a sentence.
    public var description: String {
        "The interceptor called next a second time. A retry policy sends a request again."
    }
}

/// An interceptor of one closure, on every stack.
public struct AsyncInterceptor: HTTPInterceptor {
    /// Intercepts an attempt; see ``HTTPInterceptor/intercept(_:next:)``.
    public typealias Function = @Sendable (HTTP.Request, HTTP.Next) async throws -> HTTP.Reply

    private let function: Function

    /// Makes an interceptor.
    ///
    /// - Parameter function: Intercepts each attempt.
    public init(_ function: @escaping Function) { self.function = function }

    /// Runs the closure.
    public func intercept(_ request: HTTP.Request, next: HTTP.Next) async throws -> HTTP.Reply {
        try await function(request, next)
    }
}
