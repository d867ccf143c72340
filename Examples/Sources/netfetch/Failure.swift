import CurlStack
import Foundation
import NetworkStack
import URLSessionStack

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why a fetch failed, as the output has it.
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

        /// The exit code, where nothing more is known: curl's, where curl has one.
        var exitCode: Int32 {
            switch self {
            case .refused: 2
            case .url: 3
            case .proxy: 5
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
            case .other: 99
            }
        }

        /// What the kind means, for the help text.
        var meaning: String {
            switch self {
            case .url: "The URL is malformed, or its scheme is not http or https."
            case .refused: "The library refuses the request, an option or a redirect; nothing more was sent."
            case .dns: "The host's name could not be looked up."
            case .connect: "The connection could not be opened."
            case .protocol: "The response breaks the rules of HTTP."
            case .http2: "The HTTP/2 connection or stream failed."
            case .truncated: "The response ended before it was complete."
            case .timeout: "A timeout expired."
            case .tooManyRedirects: "More redirects came than are allowed."
            case .empty: "The connection ended without a response."
            case .send: "The request could not be sent."
            case .recv: "The connection broke before the response was complete."
            case .tls: "TLS could not be negotiated, or the server is not trusted."
            case .decode: "The body could not be decompressed."
            case .tooLarge: "The response is longer than allowed."
            case .pin: "The server's key is none of the pinned ones, or the pins are invalid."
            case .proxy: "The proxy failed, or its URL is invalid."
            case .other: "Anything else."
            }
        }
    }

    let kind: Kind
    var phase: HTTP.Phase?
    /// The library's or libcurl's name for it.
    var code: String?
    let message: String
    let exitCode: Int32
    /// OpenSSL's verdict on the server's certificate, if that is the reason.
    var verifyResult: Int?

    /// Makes a failure that netfetch found itself.
    init(_ kind: Kind, _ message: String, exitCode: Int32? = nil) {
        self.init(kind, phase: nil, code: nil, message: message, exitCode: exitCode)
    }

    private init(_ kind: Kind, phase: HTTP.Phase?, code: String?, message: String, exitCode: Int32? = nil) {
        self.kind = kind
        self.phase = phase
        self.code = code
        self.message = message
        self.exitCode = exitCode ?? kind.exitCode
    }

    /// Reads a fetch's error; `nil` if the response is whole and only its status is an error.
    init?<Response, TransportError>(_ error: HTTPFetchError<Response, TransportError>) {
        switch error {
        case .http, .noData: return nil
        case .noRequest(let error):
            self.init(making: error)
        case .unknownCoding(let coding, _):
            self.init(.decode, phase: .receiving, code: nil, message: "The body has an unknown coding: \(coding).")
        case .badResponse:
            // To curl it is HTTP/0.9, a protocol that it does not speak.
            self.init(.protocol, phase: .receiving, code: nil, message: "The response is not HTTP.", exitCode: 1)
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

    /// Reads why a request or a stack could not be made. Exit codes are those of curl for the option at fault.
    init(making error: any Error) {
        switch error {
        case let error as HTTP.InvalidValue:
            self.init(.refused, phase: nil, code: "invalidRequest", message: "\(error)")
        case let error as FileError:
            let message = "The request's body could not be read: \(error)"
            self.init(.send, phase: .sending, code: "requestBody", message: message, exitCode: 26)
        case Network.ConfigurationError.untrusted(let error):
            self.init(Self.kind(of: error), phase: .securing, code: "untrusted", message: "\(error)")
        case Network.ConfigurationError.unsupported:
            self.init(.refused, phase: nil, code: "unsupported", message: "\(error)", exitCode: 4)
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
        let exitCode: Int32? =
            switch refusal {
            case .unsupported: 4
            case .insecureRedirect: 1
            case .invalidRedirect(let target, _): Self.namesOtherScheme(target) ? 1 : 3
            case .bodyNotReplayable: 65
            case .requestBody: 26
            case .interceptor: 99
            case .untrusted(.pinningUnsupported, _): 4
            default: nil
            }
        self.init(kind, phase: phase, code: Self.caseName(of: refusal), message: "\(refusal)", exitCode: exitCode)
    }

    /// Whether a URL has a scheme, and it is neither http nor https.
    static func namesOtherScheme(_ url: String) -> Bool {
        guard let colon = url.firstIndex(of: ":") else { return false }
        let scheme = url[..<colon].lowercased()
        return scheme != "http" && scheme != "https" && scheme.allSatisfy { $0.isASCII && $0.isLetter }
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
        var exitCode: Int32?
        if let error = error as? CurlError {
            code = "\(error.code)"
            message = error.message
            exitCode = error.code.rawValue
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
            if error.code == .secureConnectionFailed { exitCode = 35 }
        }
        self.init(kind, phase: neutral?.phase, code: code, message: message, exitCode: exitCode)
        verifyResult = (error as? CurlError)?.verifyResult
    }
}
