import CurlStack
import Foundation
import NetworkStack
import URLSessionStack

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why a fetch failed, in the words of the output.
struct Failure: Error {
    /// What went wrong. The raw value is the word in the output.
    enum Kind: String, CaseIterable {
        case url
        case dns
        case connect
        case timeout
        case tls
        case pin
        case proxy
        case `protocol`
        case truncated
        case empty
        case decode
        case tooManyRedirects = "too_many_redirects"
        case tooLarge = "too_large"
        case send
        case recv
        case http2
        case refused
        case other

        /// The exit code: curl's for the same failure, where curl has one.
        var exitCode: Int32 {
            switch self {
            case .url: 3
            case .refused: 4
            case .dns: 6
            case .connect: 7
            case .protocol: 8
            case .http2: 16
            case .truncated: 18
            case .timeout: 28
            case .tooManyRedirects: 47
            case .empty: 52
            case .send: 55
            case .recv: 56
            case .tls: 60
            case .decode: 61
            case .tooLarge: 63
            case .pin: 90
            case .proxy: 97
            case .other: 99
            }
        }

        /// What the kind means, for the help text.
        var meaning: String {
            switch self {
            case .url: "The URL cannot be read or is not http(s)."
            case .refused: "The library refused the request, an option or a redirect; nothing more was sent."
            case .dns: "The host's name could not be looked up."
            case .connect: "The connection could not be opened."
            case .protocol: "The response breaks the rules of HTTP."
            case .http2: "The HTTP/2 connection or stream failed."
            case .truncated: "The response ended before it was complete."
            case .timeout: "A time limit was reached."
            case .tooManyRedirects: "The redirects are more than allowed."
            case .empty: "The connection ended without a response."
            case .send: "The request could not be sent."
            case .recv: "The connection broke while the response was awaited or received."
            case .tls: "TLS could not be negotiated, or the server is not trusted."
            case .decode: "The content could not be decompressed."
            case .tooLarge: "The response is longer than allowed."
            case .pin: "The server's key is not one of the pinned, or the pins make no sense."
            case .proxy: "The proxy failed, or what was said of it makes no sense."
            case .other: "Anything else."
            }
        }
    }

    let kind: Kind
    var phase: HTTP.Phase?
    /// The library's or libcurl's name for it.
    var code: String?
    let message: String

    /// Makes a failure that netfetch found itself.
    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    private init(_ kind: Kind, phase: HTTP.Phase?, code: String?, message: String) {
        self.kind = kind
        self.phase = phase
        self.code = code
        self.message = message
    }

    /// Reads a fetch's error, or answers `nil` where the response is whole and only its status says no.
    init?<Response, TransportError>(_ error: HTTPFetchError<Response, TransportError>) {
        switch error {
        case .http, .noData: return nil
        case .noRequest(let error):
            self.init(making: error)
        case .unknownCoding(let coding, _):
            self.init(.decode, phase: .receiving, code: nil, message: "The content has an unknown coding: \(coding).")
        case .badResponse: self.init(.protocol, phase: .receiving, code: nil, message: "What came is no HTTP response.")
        case .transport(let error, _): self.init(transport: error)
        case .retry(_, let state):
            if let last = state.errors.last as? HTTPFetchError<Response, TransportError> {
                self.init(last)
            } else {
                self.init(.other, phase: nil, code: nil, message: "\(error)")
            }
        case .cancelled: self.init(.other, phase: nil, code: "cancelled", message: "The fetch was cancelled.")
        default: self.init(refusal: error)
        }
    }

    /// Reads why a request or a stack could not be made.
    init(making error: any Error) {
        switch error {
        case let error as HTTP.InvalidValue:
            self.init(.refused, phase: nil, code: "invalidRequest", message: "\(error)")
        case let error as FileError:
            let message = "The request's content could not be read: \(error)"
            self.init(.send, phase: .sending, code: "requestBody", message: message)
        case Network.ConfigurationError.untrusted(let error):
            self.init(Self.kind(of: error), phase: .securing, code: "untrusted", message: "\(error)")
        case Network.ConfigurationError.unsupported:
            self.init(.refused, phase: nil, code: "unsupported", message: "\(error)")
        case Network.ConfigurationError.invalid:
            self.init(.refused, phase: nil, code: "invalidOptions", message: "\(error)")
        default:
            self.init(.other, phase: .making, code: nil, message: "\(error)")
        }
    }

    /// Reads what the library itself decided.
    private init<Response, TransportError>(refusal: HTTPFetchError<Response, TransportError>) {
        let (kind, phase): (Kind, HTTP.Phase?) =
            switch refusal {
            case .timedOut(_, let phase, _): (.timeout, phase)
            case .tooManyRedirects: (.tooManyRedirects, .receiving)
            case .bodyTooLarge, .headTooLarge, .headLineTooLong, .tooManyFields, .decompressionRatio:
                (.tooLarge, .receiving)
            case .untrusted(let error, _): (Self.kind(of: error), .securing)
            case .bodyNotReplayable, .requestBody: (.send, .sending)
            case .shutDown: (.other, nil)
            default: (.refused, nil)
            }
        self.init(kind, phase: phase, code: Self.caseName(of: refusal), message: "\(refusal)")
    }

    private static func kind(of error: ServerTrustError) -> Kind {
        switch error {
        case .pinVerificationFailed(_, .evaluation): .tls
        case .pinningUnsupported: .refused
        default: .pin
        }
    }

    private static func caseName<Response, TransportError>(
        of refusal: HTTPFetchError<Response, TransportError>
    ) -> String? {
        switch refusal {
        case .invalidRequest: "invalidRequest"
        case .unsupported: "unsupported"
        case .timedOut(let clock, _, _): "timedOut.\(clock.rawValue)"
        case .tooManyRedirects: "tooManyRedirects"
        case .insecureRedirect: "insecureRedirect"
        case .invalidRedirect: "invalidRedirect"
        case .bodyTooLarge: "bodyTooLarge"
        case .headTooLarge: "headTooLarge"
        case .headLineTooLong: "headLineTooLong"
        case .tooManyFields: "tooManyFields"
        case .bodyNotReplayable: "bodyNotReplayable"
        case .requestBody: "requestBody"
        case .decompressionRatio: "decompressionRatio"
        case .interceptor: "interceptor"
        case .untrusted: "untrusted"
        case .shutDown: "shutDown"
        default: nil
        }
    }

    private init(transport error: any Error) {
        let neutral = error as? any HTTPTransportError
        var kind: Kind =
            switch neutral?.kind {
            case .dns: .dns
            case .connect: .connect
            case .tls: .tls
            case .send: .send
            case .receive: .recv
            case .truncated: .truncated
            case .empty: .empty
            case .malformed: .protocol
            case .decoding: .decode
            case .proxy: .proxy
            default: .other
            }
        var code: String?
        var message = "\(error)"
        if let error = error as? CurlError {
            code = "\(error.code)"
            message = error.message
            switch error.code {
            case .http2, .http2Stream: kind = .http2
            case .operationTimedOut: kind = .timeout
            case .sslPinnedPublicKeyMismatch: kind = .pin
            case .urlMalformed: kind = .url
            default: break
            }
        } else if let error = error as? URLError {
            code = "URLError \(error.code.rawValue)"
            message = error.localizedDescription
        }
        self.init(kind, phase: neutral?.phase, code: code, message: message)
    }
}
