extension HTTP {
    /// How a request is carried out: a stack's default, or a resource's own, which then counts whole: the stack's are not
    /// looked at. So begin a resource's with a copy of the stack's (``HTTPResource/options`` tells why).
    public struct Options: Sendable {
        /// Which redirects are followed, and what travels with them.
        public struct Redirects: Sendable, Hashable {
            /// How many are followed before ``HTTPFetchError/tooManyRedirects(limit:_:)``. With 0, none is followed and a
            /// redirect is an ordinary response. 0 to 100.
            public var limit: Int
            /// Whether a redirect from https to http is followed.
            public var allowsInsecure: Bool
            /// Header fields that are secret besides `Authorization`, `Cookie` and `Proxy-Authorization`: they are not
            /// sent to another origin. A resource with options of its own must list them again.
            public var sensitiveHeaders: Set<HeaderName>

            /// Makes a policy.
            public init(limit: Int = 20, allowsInsecure: Bool = false, sensitiveHeaders: Set<HeaderName> = []) {
                self.limit = limit
                self.allowsInsecure = allowsInsecure
                self.sensitiveHeaders = sensitiveHeaders
            }
        }

        /// When a fetch has taken too long. `nil` means the clock is off; what is set must be longer than zero.
        ///
        /// Each ends the fetch with ``HTTPFetchError/timedOut(_:during:_:)``. They run on a monotonic clock and are exact to
        /// some 10 ms; none ever fires early.
        public struct Timeouts: Sendable, Hashable {
            /// The wait for a place among the connections.
            public var queue: Duration?
            /// Looking up the name, opening the connection and negotiating TLS. The idle clock bounds it if this is off.
            public var connect: Duration?
            /// From the latest byte sent to the end of the response's head; informational responses do not restart it.
            public var firstByte: Duration?
            /// Any stretch without a byte in either direction. It runs neither while the request is made or waits for a place,
            /// nor while the receiver itself holds back.
            public var idle: Duration
            /// One attempt: making the request, queueing, every redirect. An attempt that takes longer has failed, and may be
            /// tried again. That of a stream or a download ends with the response's head, which is its success.
            public var attempt: Duration?
            /// The whole fetch, every attempt and the delays between them included, and all of a stream or a download. When it
            /// runs out nothing is tried again.
            public var total: Duration?

            /// Makes a set of clocks.
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

        /// How much a server may send.
        public struct Limits: Sendable, Hashable {
            /// Bytes of content, after decompression, that a buffered fetch collects; and that may wait for the reader of a stream
            /// on a stack without back-pressure. At least 0.
            public var body: Int64
            /// Bytes of a response's head; on CurlStack with the informational ones before it, and the trailers. At least 1.
            ///
            /// libcurl, below both stacks on Linux, has limits of its own, which no option changes: 102,400 bytes for one line
            /// (``HTTPFetchError/headLineTooLong(limit:_:)``); from 8.3 on 307,200 bytes for all lines, and from 8.6 on 5,000 lines.
            /// Over HTTP/2 a head that is too long for libcurl is a failed transfer.
            public var head: Int
            /// Field lines of a response's head, on CurlStack with those of the trailers; informational heads count by
            /// themselves. At least 1.
            public var headFields: Int
            /// How many bytes a byte of compressed content may become, or `nil` for any number. It counts from the first
            /// 64 KiB on, so that short and simple content passes. At least 1. On CurlStack, whatever is allowed, no piece of
            /// 16 KiB may become more than 64 MiB.
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

        /// Which version of HTTP is spoken.
        public enum VersionPolicy: Sendable, Hashable {
            /// HTTP/2 where TLS negotiates it, HTTP/1.1 elsewhere.
            case automatic
            /// HTTP/1.1 only.
            case http1_1
            /// HTTP/2 without asking, also in the clear (RFC 9113 section 3.3).
            case http2PriorKnowledge
        }

        /// Which redirects are followed.
        public var redirects = Redirects()
        /// Whether a URL's path is sent with its segments `.` and `..` (`CURLOPT_PATH_AS_IS`), which keys of object stores may have.
        /// Otherwise they are removed (RFC 3986 section 5.2.4) before interceptors get the request, so that what they sign or log
        /// is what is sent. Those of a relative `Location` are always removed. Needs ``HTTP/Capability/pathAsIs``.
        public var pathAsIs = false
        /// When a fetch has taken too long.
        public var timeouts = Timeouts()
        /// How much a server may send.
        public var limits = Limits()
        /// Which version of HTTP is spoken.
        public var version = VersionPolicy.automatic
        /// Whether content is asked for compressed, and decompressed. If not, content is delivered as it was sent. A request
        /// with a `Range` asks for content without a coding, as no part of a compressed one could be decompressed.
        public var decompresses = true
        /// Whether content in a coding that the stack cannot undo is delivered as it was sent. If not, the fetch fails with
        /// ``HTTPFetchError/unknownCoding(_:_:)`` at its first byte. Some servers name a coding that is none (`aws-chunked`, `UTF-8`).
        /// ``HTTP/Response/decodedFrom`` tells the one from the other. Needs ``HTTP/Capability/unknownCodings``.
        public var passesUnknownCodings = false
        /// How long the request's content waits for the server to ask for it, before it is sent all the same; `nil` to send
        /// it without asking (`Expect: 100-continue`, RFC 9110 section 10.1.1). A server that answers 417 is sent the
        /// request again without the question; any other answer instead of 100 is the response, and the content stays here.
        /// Over HTTP/2 the question is sent but libcurl does not wait for the answer: a stream that is refused can be reset,
        /// which costs no connection.
        public var expectContinue: Duration?
        /// Hears informational responses (1xx) as they come, such as 103 Early Hints (RFC 8297): in order, on the stack's
        /// queue, and before the fetch completes.
        public var onInformational: (@Sendable (Response) -> Void)?
        /// Hears how much of the request's content went out, again and again while it does: `sent` bytes so far, of `length` in all,
        /// if that is known. It is told in order, on the stack's queue, and before the fetch completes. A redirect, a retry or a
        /// new connection that needs the content once more begins again from the first byte. What the system holds for the
        /// server counts as gone out.
        public var onBytesSent: (@Sendable (_ sent: Int64, _ length: Int64?) -> Void)?
        /// Whether ``HTTP/Metrics/serverPins`` tells the server's public keys where they are not pinned, too: to learn what to
        /// pin.
        public var collectsServerPins = false
        /// Statuses whose success may come without content.
        public var emptyResponseCodes: Set<StatusCode> = [.noContent, .resetContent]
        /// Methods whose success may come without content.
        public var emptyRequestMethods: Set<Method> = [.HEAD]
        /// Whether any success may come without content.
        public var allowsEmptyBody = false
        /// Whether the stack's header fields (``Network/Configuration/headers``) are sent along.
        public var usesSessionHeaders = true
        /// Who asks, where a server wants Digest authentication (RFC 7616): a redirect's target gets its own or none. Servers
        /// that are not named here, requests that have an `Authorization` of their own, and TRACE go without. Content waits for the
        /// challenge: the request is sent without it first, and a server that challenges nobody may carry that out.
        /// A challenge that libcurl cannot answer ends in its 401; ``HTTP/Response/digestLimit`` is the reason.
        /// Needs ``HTTP/Capability/digestAuthentication``.
        public var digestCredentials: [Origin: Credentials] = [:]

        /// Makes the default options.
        public init() {}

        /// Refuses what makes no sense.
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

        /// Whether somebody hears of a fetch under way.
        var isHeard: Bool { onInformational != nil || onBytesSent != nil }

        /// Whether a success of this status, for this method, may come without content.
        func allowsEmptyBody(status: StatusCode, method: Method) -> Bool {
            allowsEmptyBody || emptyResponseCodes.contains(status) || emptyRequestMethods.contains(method)
        }
    }
}
