extension HTTP {
    /// How a request is carried out. A stack's configuration has the defaults; a resource or a call changes them with a closure
    /// (``Change``). Options that it does not set keep the stack's values.
    public struct Options: Sendable {
        /// Changes a stack's options for a resource, a call or a view: `{ $0.timeouts.total = .seconds(5) }`.
        ///
        /// It is called once for each fetch, in the task or on the thread that begins the fetch, and whenever the options of a view
        /// are read (``HTTPNetworkStack/with(options:)``). It must return at once.
        public typealias Change = @Sendable (inout Options) -> Void

        /// Which redirects are followed (RFC 9110 section 15.4).
        ///
        /// After a 301 or 302, a POST becomes a GET without a body; after a 303, every method but HEAD does. Otherwise the method
        /// and the body stay. A 300 and a 305 are ordinary responses.
        public struct Redirects: Sendable, Hashable {
            /// The most redirects to follow, from 0 to 100. One more fails with ``HTTPFetchError/tooManyRedirects(limit:_:)``.
            /// With 0, a redirect is an ordinary response.
            public var limit: Int
            /// Whether a redirect from https to http is followed.
            public var allowsInsecure: Bool

            /// Makes a policy.
            public init(limit: Int = 20, allowsInsecure: Bool = false) {
                self.limit = limit
                self.allowsInsecure = allowsInsecure
            }
        }

        /// The timeouts of a fetch. `nil` means none; others must be greater than zero.
        ///
        /// Each ends the fetch with ``HTTPFetchError/timedOut(_:during:_:)``. They use a monotonic clock, with an accuracy of
        /// about 10 ms, and never fire early.
        public struct Timeouts: Sendable, Hashable {
            /// The wait for a connection.
            public var queue: Duration?
            /// Resolving the name, opening the connection and negotiating TLS. The idle timeout runs as well, anew in each of these
            /// steps; if it is shorter, it may end the fetch first.
            public var connect: Duration?
            /// From the last byte that was sent so far to the end of the response's head, so a stream that provides no more of the
            /// request's body for this time fails, too. Informational responses do not restart it.
            public var firstByte: Duration?
            /// The longest time without a byte in either direction. It does not run while the request is made or queued, or while
            /// the reader pauses.
            public var idle: Duration
            /// One attempt: making the request, queueing, all redirects. Exceeding it fails the attempt, which may be retried.
            /// For a stream or a download, an attempt ends with the response's head.
            public var attempt: Duration?
            /// The whole fetch with all attempts and delays, until the whole body of a stream or a download has arrived. Nothing is
            /// retried after it.
            public var total: Duration?

            /// Makes timeouts.
            public init(
                queue: Duration? = nil,
                connect: Duration? = nil,
                firstByte: Duration? = nil,
                idle: Duration = .seconds(60),
                attempt: Duration? = nil,
                total: Duration? = nil
            ) {
                self.queue = queue
                self.connect = connect
                self.firstByte = firstByte
                self.idle = idle
                self.attempt = attempt
                self.total = total
            }
        }

        /// Limits of a response's size.
        public struct Limits: Sendable, Hashable {
            /// The most bytes of a body, after decompression, that a buffered fetch collects, or that wait for a stream's reader
            /// on a stack without back-pressure. At least 0.
            public var body: Int64
            /// The most bytes of a response's head; on CurlStack with informational heads before it and the trailers. At least 1.
            ///
            /// libcurl, below both stacks on Linux, has fixed limits besides: 102,400 bytes per line and 4,096 per line of the trailers
            /// (``HTTPFetchError/headLineTooLong(limit:_:)``), from 8.3 on 307,200 bytes in total, and from 8.6 on 5,000 lines.
            /// Over HTTP/2, a head that is too long for libcurl fails as a transport error.
            public var head: Int
            /// The most field lines of a response's head, on CurlStack with those of the trailers. Informational heads count
            /// separately. At least 1.
            public var headFields: Int
            /// The most bytes to which a byte of a compressed body may expand, or `nil` for no limit. The first 64 KiB do not
            /// count, so that short and repetitive bodies pass. At least 1. On CurlStack, 16 KiB may never expand to more than 64
            /// MiB.
            public var decompressionRatio: Int?

            /// Makes a set of limits.
            public init(
                body: Int64 = 1 << 30,
                head: Int = 256 * 1024,
                headFields: Int = 1000,
                decompressionRatio: Int? = nil
            ) {
                self.body = body
                self.head = head
                self.headFields = headFields
                self.decompressionRatio = decompressionRatio
            }
        }

        /// The choice of the HTTP version.
        public enum VersionPolicy: Sendable, Hashable {
            /// HTTP/2 if TLS negotiates it, otherwise HTTP/1.1.
            case automatic
            /// HTTP/1.1 only.
            case http1_1
            /// HTTP/2 without negotiation, also without TLS (RFC 9113 section 3.3).
            case http2PriorKnowledge
        }

        /// Which redirects are followed.
        public var redirects = Redirects()
        /// Header fields that a redirect to another origin does not take along, besides `Authorization`, `Cookie` and
        /// `Proxy-Authorization`: the names in ``Network/Configuration/sensitiveHeaders``, and those added by
        /// ``addSensitiveHeaders(_:)``. A ``Change`` cannot remove a name.
        public private(set) var sensitiveHeaders: Set<HeaderName> = []
        /// Whether a URL's path is sent with its segments `.` and `..` (`CURLOPT_PATH_AS_IS`), as keys of object stores may need.
        /// Otherwise they are removed (RFC 3986 section 5.2.4) before interceptors get the request, so that these sign or log
        /// what is sent. Those of a relative `Location` are always removed. Needs ``HTTP/Capability/pathAsIs``.
        public var pathAsIs = false
        /// The timeouts of the fetch.
        public var timeouts = Timeouts()
        /// Limits of a response's size.
        public var limits = Limits()
        /// The choice of the HTTP version.
        public var version = VersionPolicy.automatic
        /// Whether compressed bodies are requested, and decompressed; otherwise a body is delivered as it was sent. A request
        /// with a `Range` asks for a body without a coding, because a part of a compressed body could not be decompressed.
        public var decompresses = true
        /// Whether a body in an unknown coding is delivered as it was sent. Otherwise the fetch fails with
        /// ``HTTPFetchError/unknownCoding(_:_:)`` at its first byte. Some servers send a coding that is none (`aws-chunked`,
        /// `UTF-8`). ``HTTP/Response/decodedFrom`` lists what was decoded. Needs ``HTTP/Capability/unknownCodings``.
        public var passesUnknownCodings = false
        /// How long the request's body waits for the server's 100 Continue before it is sent anyway (`Expect: 100-continue`, RFC
        /// 9110 section 10.1.1); `nil` to send it without waiting. After a 417 the request is sent again without the field. Any
        /// other answer is the response, and the body is not sent. Over HTTP/2 the field is sent, but libcurl does not wait,
        /// because a refused stream can be reset without closing the connection.
        public var expectContinue: Duration?
        /// Called with informational (1xx) responses as they arrive, such as 103 Early Hints (RFC 8297): in order, on the stack's
        /// queue, before the completion.
        public var onInformational: (@Sendable (Response) -> Void)?
        /// Called with the progress of the request's body: `sent` bytes so far, of `length` in total if that is known. It is
        /// called in order, on the stack's queue, before the completion. A redirect, a retry or a new connection that needs the
        /// body again starts at the first byte. Bytes in the system's send buffer count as sent.
        public var onBytesSent: (@Sendable (_ sent: Int64, _ length: Int64?) -> Void)?
        /// Whether ``HTTP/Metrics/serverPins`` has the server's public keys even if they are not pinned. Use it to find the keys
        /// to pin.
        public var collectsServerPins = false
        /// Decides whether a status is a failure (``HTTPFetchError/http(_:_:_:)``). By default, every status but 2xx is. The stack calls
        /// it, on one of its threads, when a response's head has arrived, and ignores the result for a redirect that it follows. A
        /// stream or a download fails before it is delivered. The closure must return at once.
        public var failsForStatus: @Sendable (StatusCode) -> Bool = { $0.statusClass != .success }
        /// Statuses whose success may have an empty body.
        public var emptyResponseCodes: Set<StatusCode> = [.noContent, .resetContent]
        /// Methods whose success may have an empty body.
        public var emptyRequestMethods: Set<Method> = [.HEAD]
        /// Whether any success may have an empty body.
        public var allowsEmptyBody = false
        /// Whether the stack's header fields (``Network/Configuration/headers``) are sent.
        public var usesSessionHeaders = true
        /// Credentials for Digest authentication (RFC 7616) by origin; a redirect's target needs its own. Other servers, requests
        /// with an `Authorization` field, and TRACE go without. The body waits for the challenge: the request is first sent
        /// without it, and a server that sends no challenge may process that. Of several challenges, the stack answers the first that
        /// it can. If it can answer none, the result is the 401, and ``HTTP/Response/digestLimit`` is the reason. Needs
        /// ``HTTP/Capability/digestAuthentication``.
        public var digestCredentials: [Origin: Credentials] = [:]

        /// Makes the default options.
        public init() {}

        /// Refuses contradictory settings.
        ///
        /// - Throws: ``HTTP/InvalidValue``.
        public func validate() throws(HTTP.InvalidValue) {
            let clocks: [(Timeout, Duration?)] = [
                (.queue, timeouts.queue), (.connect, timeouts.connect), (.firstByte, timeouts.firstByte),
                (.idle, timeouts.idle), (.attempt, timeouts.attempt), (.total, timeouts.total),
            ]
            for case (let name, let duration?) in clocks where duration <= .zero {
                throw HTTP.InvalidValue("The \(name.rawValue) timeout must be longer than zero.")
            }
            if let expectContinue, expectContinue <= .zero {
                throw HTTP.InvalidValue("The wait for 100 Continue must be longer than zero.")
            }
            if let ratio = limits.decompressionRatio, ratio < 1 {
                throw HTTP.InvalidValue("The decompression ratio must be at least 1.")
            }
            guard (0...100).contains(redirects.limit) else {
                throw HTTP.InvalidValue("The redirect limit must be from 0 to 100.")
            }
            guard digestCredentials.values.allSatisfy(\.isLegal) else {
                throw HTTP.InvalidValue("A user's name and password have no control characters.")
            }
            guard limits.body >= 0, limits.head > 0, limits.headFields > 0 else {
                throw HTTP.InvalidValue("A limit must not be negative, and a head needs room for one field at least.")
            }
        }

        /// Keeps header fields from following redirects to another origin.
        ///
        /// - Parameter names: The names of the fields.
        public mutating func addSensitiveHeaders(_ names: HeaderName...) { sensitiveHeaders.formUnion(names) }

        /// These options after a change, which cannot remove a sensitive header.
        func changed(by change: Change) -> Options {
            var changed = self
            change(&changed)
            changed.sensitiveHeaders.formUnion(sensitiveHeaders)
            return changed
        }

        /// The same options, with more header fields that are sensitive.
        func keepingBack(_ names: Set<HeaderName>) -> Options { changed { $0.sensitiveHeaders.formUnion(names) } }

        /// Whether a callback is called while the fetch runs.
        var hasCallbacks: Bool { onInformational != nil || onBytesSent != nil }

        /// Whether a success with this status and method may have an empty body.
        func allowsEmptyBody(status: StatusCode, method: Method) -> Bool {
            allowsEmptyBody || emptyResponseCodes.contains(status) || emptyRequestMethods.contains(method)
        }
    }
}
