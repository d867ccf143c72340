public import FoundationEssentials

extension HTTP {
    /// A failure that the library found itself, before, during or after a transfer, the same on every stack.
    @nonexhaustive
    public enum Refusal: Error, Sendable {
        /// The request cannot be sent as it is; nothing was. The text says what to change.
        case invalidRequest(String)
        /// An option or a configuration makes no sense; nothing was sent. The text says what to change.
        case invalidOptions(String)
        /// The stack cannot do what was asked, here; nothing was sent.
        case unsupported(Capability, reason: String)
        /// A clock ran out, in a phase.
        case timedOut(Timeout, during: Phase)
        /// More redirects than ``HTTP/Options/Redirects/limit``; redirects that go round in a circle end so.
        case tooManyRedirects(limit: Int)
        /// A redirect leads from https to http (RFC 9110 section 15.4 leaves it to the client; this one refuses).
        case insecureRedirect(URL)
        /// A redirect leads to what is no http or https URL, to a text that a request's URL may not have either (control characters,
        /// a backslash before the query, more than 65,536 bytes), or to several places at once.
        case invalidRedirect(String)
        /// The response's content is longer than ``HTTP/Options/Limits/body``, in bytes.
        case bodyTooLarge(limit: Int64)
        /// The response's content grows by more than ``HTTP/Options/Limits/decompressionRatio`` when it is decompressed; or, on
        /// CurlStack, a piece of 16 KiB by more than 4096 times, whatever that says.
        case decompressionRatio(limit: Int)
        /// The response's head is longer than ``HTTP/Options/Limits/head``, in bytes, or than the library below the stack takes,
        /// if that is less.
        case headTooLarge(limit: Int)
        /// One line of the response's head is longer than the library below the stack takes, in bytes, whatever
        /// ``HTTP/Options/Limits/head`` is.
        case headLineTooLong(limit: Int)
        /// The response's head has more field lines than ``HTTP/Options/Limits/headFields``, or than the library below the stack
        /// takes, if that is less.
        case tooManyFields(limit: Int)
        /// The request's content was sent once and cannot be sent again.
        case bodyNotReplayable
        /// The request's content could not be read, or is not as long as was said.
        case requestBody(any Error)
        /// An interceptor would not take the response's content.
        case interceptor(any Error)
        /// The server is not trusted with the request (``Network/Configuration/serverTrust``); none of it was sent.
        case untrusted(ServerTrustError)
        /// The stack was shut down.
        case shutDown
    }
}

extension HTTP.Options.Limits {
    /// What a head is refused as that has a line of more than libcurl takes (`CURL_MAX_HTTP_HEADER`).
    package var refusalOfLongLine: HTTP.Refusal {
        let longest = 100 * 1024
        return head <= longest ? .headTooLarge(limit: head) : .headLineTooLong(limit: longest)
    }
}

extension HTTP.Refusal: CustomStringConvertible {
    /// What happened, in a sentence, without URL user info, query or header values.
    public var description: String {
        switch self {
        case .invalidRequest(let reason): reason
        case .invalidOptions(let reason): reason
        case .unsupported(let capability, let reason): "This stack does not support \(capability) here: \(reason)"
        case .timedOut(let timeout, let phase): "The \(timeout.rawValue) timeout ran out while \(phase.rawValue)."
        case .tooManyRedirects(let limit): "The response redirects more than \(limit) times."
        case .insecureRedirect(let url): "A redirect leads from https to \(url.redactedDescription), in the clear."
        case .invalidRedirect(let location):
            "A redirect leads to \(location.redactedURL), not to an http or https URL."
        case .bodyTooLarge(let limit): "The response's content is longer than the limit of \(limit) bytes."
        case .decompressionRatio(let limit):
            "A byte of the response's compressed content becomes more than the limit of \(limit) bytes."
        case .headTooLarge(let limit): "The response's head is longer than the limit of \(limit) bytes."
        case .headLineTooLong(let limit):
            "A line of the response's head is longer than \(limit) bytes, the most that libcurl takes."
        case .tooManyFields(let limit): "The response's head has more than the limit of \(limit) field lines."
        case .bodyNotReplayable: "The request's content can be sent only once, and it would have to be sent again."
        case .requestBody(let error): "The request's content could not be read: \(error)"
        case .interceptor(let error): "An interceptor would not take the response's content: \(error)"
        case .untrusted(let error): error.description
        case .shutDown: "The stack was shut down."
        }
    }
}

extension HTTP.Refusal: CustomReflectable {
    /// What happened, in a sentence: a dump, too, shows no URL user info or query.
    public var customMirror: Mirror { Mirror(self, children: ["reason": description], displayStyle: .enum) }
}

extension URL {
    /// The URL without what may be secret: user info, query and fragment.
    package var redactedDescription: String { absoluteString.redactedURL }
}

extension String {
    /// The text of a URL, or of what was to be one, without what may be secret.
    fileprivate var redactedURL: String {
        let bytes = Array(utf8)
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        var shown = bytes[..<end]
        if let slash = shown.firstIndex(of: UInt8(ascii: "/")), slash + 2 <= end, shown[slash + 1] == UInt8(ascii: "/")
        {
            let authorityEnd = shown[(slash + 2)...].firstIndex(of: UInt8(ascii: "/")) ?? end
            if let at = shown[(slash + 2)..<authorityEnd].lastIndex(of: UInt8(ascii: "@")) {
                shown.removeSubrange((slash + 2)...at)
            }
        }
        return String(decoding: shown, as: UTF8.self) + (end < bytes.count ? "?…" : "")
    }
}
