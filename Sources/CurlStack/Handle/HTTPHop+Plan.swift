internal import NetworkStack

extension HTTPHop {
    /// The policy of the options; with trailers, `.automatic` becomes HTTP/1.1, because libcurl sends trailers over HTTP/1.1 only.
    var versionPolicy: HTTP.Options.VersionPolicy {
        options.version == .automatic && hasTrailers ? .http1_1 : options.version
    }

    /// The version by which the queue distinguishes hosts: in the clear, the automatic choice is HTTP/1.1.
    var queueVersion: HTTP.Options.VersionPolicy {
        versionPolicy == .automatic && origin.scheme == .http ? .http1_1 : versionPolicy
    }

    /// Whether others may join its connection only once that has answered (``LibcurlQuirks/lateHTTP2Sharing``).
    func sharesOnceAnswered(_ quirks: LibcurlQuirks) -> Bool {
        versionPolicy == .http2PriorKnowledge && origin.scheme == .http && quirks.contains(.lateHTTP2Sharing)
    }

    /// Whether TLS may come to HTTP/2. A libcurl without it refuses to be asked.
    var mayNegotiateHTTP2: Bool { isSecure && CurlLibrary.shared.hasHTTP2 }

    /// Whether the hop must have its connection to itself (``LibcurlQuirks/mixedHTTP2Bodies``): its body has no announced length,
    /// or it wants trailers.
    func needsOwnConnection(_ quirks: LibcurlQuirks) -> Bool {
        guard quirks.contains(.mixedHTTP2Bodies), versionPolicy != .http1_1, versionPolicy != .automatic || isSecure
        else {
            return false
        }
        return source.map { $0.length == nil } ?? false || wantsTrailers
    }

    /// Whether the body may be read in large pieces. Over HTTP/2 the usual size must stand (``BufferedHTTP2Input``).
    var mayReadLargePieces: Bool {
        switch versionPolicy {
        case .automatic: origin.scheme == .http
        case .http1_1: true
        case .http2PriorKnowledge: false
        }
    }

    /// Whether the request's body waits for the server to ask for it.
    var asksFirst: Bool {
        guard hasBody else { return false }
        switch request.body {
        case .bytes(let data) where data.isEmpty: return false
        default: return options.expectContinue != nil || request.headers.contains { $0.asksForContinue }
        }
    }
}

extension HTTP.Headers.Field {
    /// Whether the field is `Expect: 100-continue`.
    var asksForContinue: Bool { name == .expect && value.lowercased() == "100-continue" }
}

extension HTTPHop {
    /// Why the head is too long to be sent, if it is. libcurl reports one over HTTP/1.1 as lack of memory
    /// (`DYN_HTTP_REQUEST`). Over HTTP/2 nghttp2 takes 64 KiB of fields, each with 12 bytes more, and refuses what is longer;
    /// libcurl takes that for the connection's end, and opens five others.
    func failureOfLongHead(overHTTP2: Bool = false) -> HTTPTransferFailure<CurlError>? {
        // With room for what the stack and libcurl add.
        let limit = (overHTTP2 ? 64 : 1024) * 1024 - 2048
        guard headLength > limit / 4 else { return nil }
        let length = overHTTP2 ? headLength + 8 * request.headers.count : headLength
        guard length > limit else { return nil }
        return .invalidRequest(
            """
            The request's URL and header fields have \(headLength) bytes; libcurl sends a head of up to \
            \(overHTTP2 ? "64 KiB over HTTP/2" : "1 MiB").
            """
        )
    }
}
