/// That a server ends a connection of HTTP/2 (RFC 9113 section 6.8).
struct GoAway {
    /// The last stream it deals with.
    let lastStream: UInt32
    /// Why.
    let code: UInt32

    /// Why, by name, unless the server ends it in order.
    var reason: String? {
        guard code != 0 else { return nil }
        let name = Int(code) < Self.names.count ? Self.names[Int(code)] : "unknown"
        return "The server ended the connection with the GOAWAY \(name) (\(code))."
    }

    /// The error codes (RFC 9113 section 7).
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}
