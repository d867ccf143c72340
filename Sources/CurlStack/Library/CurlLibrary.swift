internal import CCurl
internal import COpenSSL
internal import NetworkStack

/// The libcurl of this process, with its versions and features.
public struct CurlLibrary: Sendable, CustomStringConvertible {
    /// libcurl's version, such as `7.88.1`.
    public let version: String
    /// libcurl's version as one number, such as `0x075801`.
    public let versionNumber: UInt32
    /// The TLS library, such as `OpenSSL/3.0.19`, or `nil` without TLS.
    public let tlsVersion: String?
    /// Whether it supports HTTP/2.
    public let hasHTTP2: Bool
    /// Whether it looks up names while transfers go on: in threads, or with c-ares.
    let looksUpInBackground: Bool
    /// The default bundle of certificate authorities, if it was built with one.
    public let trustBundle: String?

    /// The oldest version that has every option this stack sets (`CURLOPT_QUICK_EXIT`).
    static let oldest: UInt32 = 0x075700

    /// The content codings that can be decoded, as in `Accept-Encoding`.
    public var contentCodings: [String] { ContentCoding.available.map(\.rawValue) }

    /// The libcurl of this process, initialised once. It is never cleaned up: Foundation shares it.
    public static let shared = CurlLibrary()

    private init() {
        Self.prepareOpenSSL()
        curl_global_init(shim_global_init)
        guard let info = unsafe curl_version_info(shim_version_now)?.pointee else {
            (version, versionNumber, tlsVersion, trustBundle) = ("unknown", 0, nil, nil)
            (hasHTTP2, looksUpInBackground) = (false, false)
            return
        }
        func text(_ pointer: UnsafePointer<CChar>?) -> String? { unsafe pointer.map { unsafe String(cString: $0) } }
        version = unsafe text(info.version) ?? "unknown"
        versionNumber = unsafe info.version_num
        tlsVersion = unsafe text(info.ssl_version)
        let features = unsafe info.features
        hasHTTP2 = features & CURL_VERSION_HTTP2 != 0
        looksUpInBackground = features & CURL_VERSION_ASYNCHDNS != 0
        trustBundle = unsafe text(info.cainfo)
    }

    /// Initialises OpenSSL, before libcurl does. Otherwise OpenSSL cleans up at exit, while a loop's thread may still use it.
    static func prepareOpenSSL() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }

    /// Refuses a libcurl that the stack cannot use.
    ///
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` with what it lacks.
    func validate() throws(Network.ConfigurationError) {
        guard versionNumber >= Self.oldest else {
            throw .invalid("CurlStack needs libcurl 7.87 or newer; this process runs with \(version).")
        }
        guard tlsVersion?.hasPrefix("OpenSSL") ?? false else {
            throw .invalid("CurlStack needs a libcurl built on OpenSSL; this one has \(tlsVersion ?? "no TLS").")
        }
        guard looksUpInBackground else {
            throw .invalid("CurlStack needs a libcurl with a threaded resolver or c-ares; this one has neither.")
        }
    }

    /// What a stack on this libcurl can do, and the reason for each thing that it cannot.
    var capabilities: HTTP.Capabilities {
        hasHTTP2
            ? HTTP.Capabilities(advisories: advisories)
            : HTTP.Capabilities(
                unsupported: [
                    .http2: "libcurl \(version) was built without HTTP/2.",
                    .http2PriorKnowledge: "libcurl \(version) was built without HTTP/2.",
                ],
                advisories: advisories
            )
    }

    /// The versions.
    public var description: String { "libcurl \(version) with \(tlsVersion ?? "no TLS")" }
}
