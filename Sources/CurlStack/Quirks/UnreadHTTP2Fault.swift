extension LibcurlQuirks {
    /// Since 8.13, libcurl notices a connection error of HTTP/2 only when it reads the connection again (`h2_progress_ingress` in
    /// lib/http2.c). If the server then sends nothing, and does not close the connection, its transfers would wait until a timeout.
    ///
    /// libcurl is made to read a connection again when nothing has arrived on it for 50 ms (``BufferedHTTP2Input``). From 8.1 to 8.12, it
    /// notices such an error only when it sends, and the transfers end by their idle timeout.
    static let unreadHTTP2Fault = LibcurlQuirks(bit: 15)
}
