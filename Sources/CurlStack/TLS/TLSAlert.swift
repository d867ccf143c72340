internal import COpenSSL

/// A fatal alert that a server has sent (RFC 8446 section 6.2).
struct TLSAlert: CustomStringConvertible {
    private let number: Int32

    /// Reads what OpenSSL's information callback is called with; `nil` if that is no fatal alert that was received.
    init?(_ event: Int32, _ value: Int32) {
        guard event & SSL_CB_ALERT != 0, event & SSL_CB_READ != 0, value >> 8 == SSL3_AL_FATAL, value & 0xFF != 0
        else { return nil }
        number = value & 0xFF
    }

    /// What libcurl calls a failure by the alert, where it met something else.
    var code: CurlError.Code { number == Self.certificateRequired ? .sslClientCertificate : .sslConnectError }

    /// The alert's name, and its number.
    var description: String { "\(Self.names[number] ?? "unknown") (\(number))" }

    private static let certificateRequired: Int32 = 116

    private static let names: [Int32: String] = [
        10: "unexpected_message", 20: "bad_record_mac", 22: "record_overflow", 40: "handshake_failure",
        42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
        46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied", 50: "decode_error",
        51: "decrypt_error", 70: "protocol_version", 71: "insufficient_security", 80: "internal_error",
        86: "inappropriate_fallback", 90: "user_canceled", 109: "missing_extension", 110: "unsupported_extension",
        112: "unrecognized_name", 113: "bad_certificate_status_response", 115: "unknown_psk_identity",
        116: "certificate_required", 120: "no_application_protocol",
    ]
}
