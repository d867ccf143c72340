internal import CCurl
internal import NetworkStack

/// One libcurl easy handle: options in, facts out. It stays on its loop's thread.
@safe
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var headers = HeaderList()
    /// What libcurl reads and does not copy, by option.
    private var kept: [UInt32: TextList] = [:]
    /// The route the handle was told last.
    var route: ProxyRoute?
    /// How long the handle was told last to wait for 100 Continue, in milliseconds.
    var expectWait = TransferPlan.usualExpectWait

    /// Makes a handle, or `nil` if there is no memory for one.
    init?() {
        guard let easy = unsafe curl_easy_init() else { return nil }
        unsafe pointer = easy
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe shim_easy_set_pointer(pointer, CURLOPT_ERRORBUFFER, errorText)
    }

    deinit {
        unsafe curl_easy_cleanup(pointer)
        unsafe errorText.deallocate()
    }

    // MARK: Options

    @discardableResult
    func set(_ option: CURLoption, _ value: Int) -> CURLcode { unsafe shim_easy_set_long(pointer, option, value) }

    @discardableResult
    func set(_ option: CURLoption, offset value: Int64) -> CURLcode {
        unsafe shim_easy_set_offset(pointer, option, curl_off_t(value))
    }

    @discardableResult
    func set(_ option: CURLoption, _ value: String?) -> CURLcode {
        guard let value else { return unsafe shim_easy_set_string(pointer, option, nil) }
        return unsafe value.withCString { text in unsafe shim_easy_set_string(pointer, option, text) }
    }

    /// Sets bytes that libcurl copies.
    @discardableResult
    func set(_ option: CURLoption, blob bytes: [UInt8]) -> CURLcode {
        unsafe bytes.withUnsafeBytes { buffer in
            var blob = unsafe curl_blob(
                data: UnsafeMutableRawPointer(mutating: buffer.baseAddress),
                len: buffer.count,
                flags: UInt32(CURL_BLOB_COPY)
            )
            return unsafe shim_easy_set_blob(pointer, option, &blob)
        }
    }

    /// Sets the request's header lines and keeps them.
    @discardableResult
    func set(headers: consuming HeaderList) -> CURLcode {
        self.headers = headers
        return unsafe self.headers.withList { list in unsafe shim_easy_set_list(pointer, CURLOPT_HTTPHEADER, list) }
    }

    /// Sets lines that stay set until others take their place.
    @discardableResult
    func keep(_ lines: TextList, as option: CURLoption) -> CURLcode {
        let code = unsafe lines.withList { list in unsafe shim_easy_set_list(pointer, option, list) }
        kept[option.rawValue] = lines
        return code
    }

    /// Has libcurl call back with a transfer, which must outlive the handle's time in a multi handle.
    func setCallbacks() {
        unsafe shim_easy_set_header_function(pointer, Callbacks.header)
        unsafe shim_easy_set_write_function(pointer, Callbacks.write)
        unsafe shim_easy_set_read_function(pointer, Callbacks.read)
        unsafe shim_easy_set_seek_function(pointer, Callbacks.seek)
        unsafe shim_easy_set_prereq_function(pointer, Callbacks.prereq)
        unsafe shim_easy_set_resolver_start_function(pointer, Callbacks.resolverStart)
        unsafe shim_easy_set_socket_option_function(pointer, Callbacks.socketOption)
        unsafe shim_easy_set_tls_context_function(pointer, Callbacks.tlsContext)
    }

    /// Has libcurl call back with this transfer. The loop keeps the transfer while the handle is in a multi handle.
    func attach(_ transfer: Transfer) {
        unsafe setContext(Unmanaged.passUnretained(transfer).toOpaque())
        unsafe errorText.pointee = 0
    }

    /// Lets go of the transfer.
    func detach() {
        unsafe setContext(nil)
        set(headers: HeaderList())
    }

    private func setContext(_ context: UnsafeMutableRawPointer?) {
        for option in Self.contextOptions { unsafe shim_easy_set_pointer(pointer, option, context) }
    }

    private static let contextOptions = [
        CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA,
        CURLOPT_RESOLVER_START_DATA, CURLOPT_SOCKOPTDATA, CURLOPT_SSL_CTX_DATA, CURLOPT_PRIVATE,
    ]

    // MARK: Steering

    /// Lets a paused transfer go on in both directions. Its callbacks may run before this returns.
    func resume() { unsafe curl_easy_pause(pointer, CURLPAUSE_CONT) }

    /// Has a transfer's connection send what it has buffered: a change of pause does, and this one is undone at once.
    func sendWhatIsBuffered() {
        unsafe curl_easy_pause(pointer, CURLPAUSE_SEND)
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }

    /// Has a transfer that is not paused deliver what libcurl may have forgotten it holds.
    func receiveWhatIsHeld() {
        unsafe curl_easy_pause(pointer, CURLPAUSE_RECV)
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }

    // MARK: Facts

    /// libcurl's own words for what went wrong, or those for the code.
    func message(for code: CURLcode) -> String {
        let text = unsafe String(cString: errorText)
        return text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
    }

    func fact(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe shim_easy_get_long(pointer, info, &value)
        return value
    }

    func fact(offset info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        unsafe shim_easy_get_offset(pointer, info, &value)
        return Int64(value)
    }

    func fact(text info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        unsafe shim_easy_get_string(pointer, info, &value)
        return unsafe value.map { unsafe String(cString: $0) }
    }
}
