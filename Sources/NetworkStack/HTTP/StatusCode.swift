extension HTTP {
    /// A response status code (RFC 9110 section 15).
    public struct StatusCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible
    {
        /// The number.
        public let rawValue: Int

        /// Names a status.
        ///
        /// - Parameter rawValue: The number; any is accepted, as servers send any.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Names a status.
        ///
        /// - Parameter value: The number.
        public init(_ value: Int) { rawValue = value }

        /// Names a status.
        ///
        /// - Parameter value: The number.
        public init(integerLiteral value: Int) { rawValue = value }

        /// The number as text.
        public var description: String { String(rawValue) }

        /// What the first digit says.
        public enum Class: Hashable, Sendable {
            /// 1xx: the request goes on.
            case informational
            /// 2xx: the request was understood and accepted.
            case success
            /// 3xx: more has to be done.
            case redirection
            /// 4xx: the request is at fault.
            case clientError
            /// 5xx: the server is at fault.
            case serverError
            /// A number outside 100 to 599.
            case unknown
        }

        /// What the first digit says.
        public var statusClass: Class {
            switch rawValue {
            case 100...199: .informational
            case 200...299: .success
            case 300...399: .redirection
            case 400...499: .clientError
            case 500...599: .serverError
            default: .unknown
            }
        }

        /// 100 Continue.
        public static let `continue` = StatusCode(100)
        /// 103 Early Hints (RFC 8297).
        public static let earlyHints = StatusCode(103)
        /// 200 OK.
        public static let ok = StatusCode(200)
        /// 201 Created.
        public static let created = StatusCode(201)
        /// 202 Accepted.
        public static let accepted = StatusCode(202)
        /// 204 No Content.
        public static let noContent = StatusCode(204)
        /// 205 Reset Content.
        public static let resetContent = StatusCode(205)
        /// 206 Partial Content.
        public static let partialContent = StatusCode(206)
        /// 301 Moved Permanently.
        public static let movedPermanently = StatusCode(301)
        /// 302 Found.
        public static let found = StatusCode(302)
        /// 303 See Other.
        public static let seeOther = StatusCode(303)
        /// 304 Not Modified.
        public static let notModified = StatusCode(304)
        /// 307 Temporary Redirect.
        public static let temporaryRedirect = StatusCode(307)
        /// 308 Permanent Redirect.
        public static let permanentRedirect = StatusCode(308)
        /// 400 Bad Request.
        public static let badRequest = StatusCode(400)
        /// 401 Unauthorized.
        public static let unauthorized = StatusCode(401)
        /// 403 Forbidden.
        public static let forbidden = StatusCode(403)
        /// 404 Not Found.
        public static let notFound = StatusCode(404)
        /// 405 Method Not Allowed.
        public static let methodNotAllowed = StatusCode(405)
        /// 407 Proxy Authentication Required.
        public static let proxyAuthenticationRequired = StatusCode(407)
        /// 408 Request Timeout.
        public static let requestTimeout = StatusCode(408)
        /// 409 Conflict.
        public static let conflict = StatusCode(409)
        /// 410 Gone.
        public static let gone = StatusCode(410)
        /// 413 Content Too Large.
        public static let contentTooLarge = StatusCode(413)
        /// 415 Unsupported Media Type.
        public static let unsupportedMediaType = StatusCode(415)
        /// 421 Misdirected Request.
        public static let misdirectedRequest = StatusCode(421)
        /// 422 Unprocessable Content.
        public static let unprocessableContent = StatusCode(422)
        /// 425 Too Early (RFC 8470).
        public static let tooEarly = StatusCode(425)
        /// 429 Too Many Requests (RFC 6585).
        public static let tooManyRequests = StatusCode(429)
        /// 500 Internal Server Error.
        public static let internalServerError = StatusCode(500)
        /// 501 Not Implemented.
        public static let notImplemented = StatusCode(501)
        /// 502 Bad Gateway.
        public static let badGateway = StatusCode(502)
        /// 503 Service Unavailable.
        public static let serviceUnavailable = StatusCode(503)
        /// 504 Gateway Timeout.
        public static let gatewayTimeout = StatusCode(504)
    }
}
