public import FoundationEssentials

/// What a transport sends for a hop.
extension HTTPHop {
    /// The URL of the request, for a library that parses it itself. A host in an unusual spelling of an IPv4 address, such as
    /// `0x7f.1`, is replaced by that address. ``urlText`` has the host as it was written.
    public var url: URL {
        guard let address = origin.ipv4Address, address != origin.host,
            var components = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        else { return request.url }
        components.host = address
        return components.url ?? request.url
    }

    /// Whether the request accepts trailers, with `TE: trailers` (RFC 9110 section 6.5.1).
    public var wantsTrailers: Bool {
        request.headers[.te]?.lowercased().split { $0 == "," || $0 == " " }.contains("trailers") ?? false
    }

    /// The body of the request, to be read in chunks, whatever its kind: ``source``, or a source for bytes in memory.
    ///
    /// - Returns: The body, or `nil` if there is none. Each call returns a new source for the same bytes.
    public func openBody() -> (any HTTPBodySource)? {
        if case .bytes(let data) = request.body { BytesBodySource(data) } else { source }
    }

    /// The header fields to send: those of the request without `Content-Length`, and those that the stack adds.
    ///
    /// The stack adds `User-Agent` and `Accept` as configured, and `Accept-Encoding` if it decodes bodies; with `Range` that is
    /// `identity`, because a part of a compressed body could not be decoded (RFC 9110 section 14). It adds none that the request
    /// has. Blanks around a value are left out, and so is `Expect: 100-continue` if there is no
    /// body to wait for (RFC 9110 section 10.1.1). The transport adds
    /// `Host` and the fields that frame the body.
    ///
    /// - Parameters:
    ///   - configuration: The stack's configuration.
    ///   - codings: The content codings that the transport decodes, as in `Accept-Encoding`.
    /// - Returns: The fields, in order.
    public func headers(_ configuration: Network.Configuration, decoding codings: String) -> HTTP.Headers {
        let own = request.headers
        let isEmpty = request.body.length == 0
        var headers: HTTP.Headers = [:]
        for field in own where field.name != .contentLength {
            if isEmpty, field.name == .expect, field.value.lowercased() == "100-continue" { continue }
            headers.append(String(Substring(field.value.utf8.withoutOuterBlanks)), for: field.name)
        }
        if let userAgent = configuration.userAgent, !own.contains(.userAgent) { headers[.userAgent] = userAgent }
        if configuration.sendsDefaultAccept, !own.contains(.accept) { headers[.accept] = "*/*" }
        if options.decompresses, !own.contains(.acceptEncoding) {
            headers[.acceptEncoding] = own.contains(.range) ? "identity" : codings
        }
        return headers
    }
}

extension HTTPHop {
    /// Makes a hop that sends no request, for a connection that is opened in advance.
    package convenience init(to origin: HTTP.Origin, options: HTTP.Options, trust: ServerTrust) throws(HTTP
        .InvalidValue)
    {
        let (request, origin, urlText, _) = try HTTP.Request(url: "\(origin)/").checked()
        self.init(
            request: request,
            origin: origin,
            urlText: urlText,
            options: Shared(options),
            trust: trust,
            source: nil,
            allowsWithholding: true
        )
    }
}
