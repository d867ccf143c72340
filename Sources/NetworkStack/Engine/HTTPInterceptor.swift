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
/// It goes into the same lists as other interceptors, and runs on every stack (``HTTPResourceInterceptor/adapted()``). HTTPInterceptors
/// run after all interceptors have had the request; the stack's run around the resource's. They run once per attempt: again for a
/// retry, but not for a redirect, since they get the response that the last redirect led to. Their result is transformed, reported and
/// voted on like that of any attempt. They run in a task, which is cancelled when the attempt ends.
public protocol HTTPInterceptor: HTTPResourceInterceptor where Request == HTTP.Request, Response == HTTP.Response {
    /// Intercepts an attempt.
    ///
    /// - Parameters:
    ///   - request: The request, without what the stack adds (its header fields, cookies and credentials).
    ///   - next: Sends a request, this one or another; see ``HTTP/Next``. If it is not called, nothing is sent.
    /// - Returns: The response. The reply to a streamed fetch comes with the head; return it without reading its body, unless you
    ///   replace the body.
    /// - Throws: An error thrown before `next` is called ends the attempt with ``HTTPFetchError/noRequest(_:)``. An error of `next` that
    ///   is thrown on ends the attempt with that error. Any other ends it with ``HTTPFetchError/interceptor(_:_:)``, and so does every
    ///   error thrown after `next` has returned a whole response, even another fetch's. An error thrown after the head of a stream
    ///   has come ends the fetch without a retry.
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
    /// Sends the request of an attempt, through the interceptors that follow.
    ///
    /// The request is checked, and the rules of trust, cookies and credentials apply to its URL, as if the fetch had begun with it. If
    /// its origin is another one than that of the request which the interceptor got, `Authorization`, `Cookie`, `Proxy-Authorization`,
    /// `Host` and the sensitive fields (``Options/sensitiveHeaders``) that both have are removed, as for a redirect, and the stack adds
    /// no such fields of its configuration. Values that the interceptor has changed are sent. To send the same values there, set them in
    /// an interceptor after this one.
    /// `next` may be called once; a second call throws ``NextCalledAgain``. A final failure (``HTTPError/isFinal``), such as a server
    /// that is not trusted, ends the fetch: `next` throws it, and what the interceptor returns then is ignored. If the task that waits
    /// in `next` is cancelled, the request is cancelled, and `next` throws the stack's `cancelled`.
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
        ///
        /// A stream that an interceptor replaces ends its fetch when it is delivered: timeouts, a shutdown and a cancel of the fetch
        /// do not end it. Dropping it, or cancelling the task that reads it, does.
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
