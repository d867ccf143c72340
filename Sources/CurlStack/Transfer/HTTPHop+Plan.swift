internal import NetworkStack

extension HTTPHop {
    /// The version that is spoken: libcurl 7.88 sends trailers over HTTP/1.1 alone.
    var version: HTTP.Options.VersionPolicy {
        options.version == .automatic && hasTrailers ? .http1_1 : options.version
    }

    /// The version by which the queue tells hosts apart: in the clear, the automatic choice is HTTP/1.1.
    var spokenVersion: HTTP.Options.VersionPolicy {
        version == .automatic && origin.scheme == .http ? .http1_1 : version
    }

    /// Whether others may join its connection only once that has answered (``CurlLibrary/sharesBeforeAnswers``).
    var sharesOnceAnswered: Bool {
        version == .http2PriorKnowledge && origin.scheme == .http && !CurlLibrary.shared.sharesBeforeAnswers
    }

    /// Whether TLS may come to HTTP/2. A libcurl without it refuses to be asked.
    var mayNegotiateHTTP2: Bool { isSecure && CurlLibrary.shared.hasHTTP2 }

    /// Whether the request says that trailers are welcome (RFC 9110 section 6.5.1).
    var wantsTrailers: Bool {
        guard let value = request.headers[.te] else { return false }
        return value.split { $0 == "," || $0 == " " }.contains { $0.lowercased() == "trailers" }
    }

    /// Whether content may be read in large pieces. Over HTTP/2 the usual size must stand (``HeldInput``).
    var mayReadLargePieces: Bool {
        switch version {
        case .automatic: origin.scheme == .http
        case .http1_1: true
        case .http2PriorKnowledge: false
        }
    }

    /// Whether the request's content waits for the server to ask for it.
    var asksFirst: Bool {
        guard hasContent else { return false }
        switch request.body {
        case .bytes(let data) where data.isEmpty: return false
        default: return options.expectContinue != nil || request.headers.contains { $0.asksForContinue }
        }
    }
}

extension HTTP.Headers.Field {
    /// Whether the field says `Expect: 100-continue`.
    var asksForContinue: Bool { name == .expect && value.lowercased() == "100-continue" }
}
