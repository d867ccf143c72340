extension HTTP.StatusCode {
    /// 100 Continue.
    public static let `continue` = Self(100)
    /// 101 Switching Protocols.
    public static let switchingProtocols = Self(101)
    /// 102 Processing (RFC 2518).
    public static let processing = Self(102)
    /// 103 Early Hints (RFC 8297).
    public static let earlyHints = Self(103)
    /// 200 OK.
    public static let ok = Self(200)
    /// 201 Created.
    public static let created = Self(201)
    /// 202 Accepted.
    public static let accepted = Self(202)
    /// 203 Non-Authoritative Information.
    public static let nonAuthoritativeInformation = Self(203)
    /// 204 No Content.
    public static let noContent = Self(204)
    /// 205 Reset Content.
    public static let resetContent = Self(205)
    /// 206 Partial Content.
    public static let partialContent = Self(206)
    /// 207 Multi-Status (RFC 4918).
    public static let multiStatus = Self(207)
    /// 208 Already Reported (RFC 5842).
    public static let alreadyReported = Self(208)
    /// 226 IM Used (RFC 3229).
    public static let imUsed = Self(226)
    /// 300 Multiple Choices.
    public static let multipleChoices = Self(300)
    /// 301 Moved Permanently.
    public static let movedPermanently = Self(301)
    /// 302 Found.
    public static let found = Self(302)
    /// 303 See Other.
    public static let seeOther = Self(303)
    /// 304 Not Modified.
    public static let notModified = Self(304)
    /// 305 Use Proxy. It is not followed (RFC 9110 section 15.4.6).
    public static let useProxy = Self(305)
    /// 307 Temporary Redirect.
    public static let temporaryRedirect = Self(307)
    /// 308 Permanent Redirect.
    public static let permanentRedirect = Self(308)
    /// 400 Bad Request.
    public static let badRequest = Self(400)
    /// 401 Unauthorized.
    public static let unauthorized = Self(401)
    /// 402 Payment Required.
    public static let paymentRequired = Self(402)
    /// 403 Forbidden.
    public static let forbidden = Self(403)
    /// 404 Not Found.
    public static let notFound = Self(404)
    /// 405 Method Not Allowed.
    public static let methodNotAllowed = Self(405)
    /// 406 Not Acceptable.
    public static let notAcceptable = Self(406)
    /// 407 Proxy Authentication Required.
    public static let proxyAuthenticationRequired = Self(407)
    /// 408 Request Timeout.
    public static let requestTimeout = Self(408)
    /// 409 Conflict.
    public static let conflict = Self(409)
    /// 410 Gone.
    public static let gone = Self(410)
    /// 411 Length Required.
    public static let lengthRequired = Self(411)
    /// 412 Precondition Failed.
    public static let preconditionFailed = Self(412)
    /// 413 Content Too Large.
    public static let contentTooLarge = Self(413)
    /// 414 URI Too Long.
    public static let uriTooLong = Self(414)
    /// 415 Unsupported Media Type.
    public static let unsupportedMediaType = Self(415)
    /// 416 Range Not Satisfiable.
    public static let rangeNotSatisfiable = Self(416)
    /// 417 Expectation Failed.
    public static let expectationFailed = Self(417)
    /// 421 Misdirected Request.
    public static let misdirectedRequest = Self(421)
    /// 422 Unprocessable Content.
    public static let unprocessableContent = Self(422)
    /// 423 Locked (RFC 4918).
    public static let locked = Self(423)
    /// 424 Failed Dependency (RFC 4918).
    public static let failedDependency = Self(424)
    /// 425 Too Early (RFC 8470).
    public static let tooEarly = Self(425)
    /// 426 Upgrade Required.
    public static let upgradeRequired = Self(426)
    /// 428 Precondition Required (RFC 6585).
    public static let preconditionRequired = Self(428)
    /// 429 Too Many Requests (RFC 6585).
    public static let tooManyRequests = Self(429)
    /// 431 Request Header Fields Too Large (RFC 6585).
    public static let requestHeaderFieldsTooLarge = Self(431)
    /// 451 Unavailable For Legal Reasons (RFC 7725).
    public static let unavailableForLegalReasons = Self(451)
    /// 500 Internal Server Error.
    public static let internalServerError = Self(500)
    /// 501 Not Implemented.
    public static let notImplemented = Self(501)
    /// 502 Bad Gateway.
    public static let badGateway = Self(502)
    /// 503 Service Unavailable.
    public static let serviceUnavailable = Self(503)
    /// 504 Gateway Timeout.
    public static let gatewayTimeout = Self(504)
    /// 505 HTTP Version Not Supported.
    public static let httpVersionNotSupported = Self(505)
    /// 506 Variant Also Negotiates (RFC 2295).
    public static let variantAlsoNegotiates = Self(506)
    /// 507 Insufficient Storage (RFC 4918).
    public static let insufficientStorage = Self(507)
    /// 508 Loop Detected (RFC 5842).
    public static let loopDetected = Self(508)
    /// 510 Not Extended (RFC 2774, which is obsolete).
    public static let notExtended = Self(510)
    /// 511 Network Authentication Required (RFC 6585).
    public static let networkAuthenticationRequired = Self(511)

    /// The registered phrase of the status (IANA), such as `Not Found`, or `nil` if the number is not registered. It is not the
    /// text that the server sent: HTTP/2 has none, and clients must not rely on it.
    public var reasonPhrase: String? { Self.reasonPhrases[rawValue] }

    private static let reasonPhrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints", 200: "OK",
        201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content",
        206: "Partial Content",
        207: "Multi-Status", 208: "Already Reported", 226: "IM Used", 300: "Multiple Choices",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 305: "Use Proxy",
        307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required",
        403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
        407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
        421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked", 424: "Failed Dependency",
        425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported", 506: "Variant Also Negotiates", 507: "Insufficient Storage",
        508: "Loop Detected", 510: "Not Extended", 511: "Network Authentication Required",
    ]
}
