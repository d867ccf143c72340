internal import CCurl
internal import NetworkStack

/// One libcurl easy handle: options in, facts out. It stays on its loop's thread.
@safe
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    /// The transfer the handle carries now.
    private(set) var transfer: (any TransferCallbacks)?
    /// Watches the sockets of its connections.
    let watch: SocketWatch
    /// The plan that the handle's options are those of.
    private var plan: TransferPlan?
    /// The options that change while a plan stays, as they are set.
    private(set) var settings = Settings()
    /// The URL it asks for, which libcurl does not copy.
    private var url: URLHandle?
    /// The request's header lines, which libcurl does not copy.
    private var lines: TextList?
    /// What libcurl reads and does not copy, by option.
    private var kept: [UInt32: TextList] = [:]
    /// The route that was set last.
    var route: ProxyRoute?
    /// Whom its handshakes are verified by.
    var authorities = Authorities.loadedByCurl
    /// Whether certificates must name their hosts where names count (``HostNames``).
    var namesHosts = true

    /// Options that change while a plan stays.
    struct Settings {
        var closesConnection = false
        var stopsWhenConnected = false
        /// How old the addresses of a name may be, in seconds; -1 for any age.
        fileprivate(set) var addressAge: Int?
        fileprivate(set) var bufferSize: Int?
        var isListening = false
        var showsHeadsFirst = false
        /// Whether the verbose text is read for the connection that libcurl chooses (``LibcurlQuirks/unnamedUnixConnection``).
        fileprivate(set) var namesConnections = false
        /// Whether libcurl reads on after content of the announced length.
        fileprivate(set) var readsPastLength = false
    }

    /// Makes a handle, or `nil` if there is no memory for one.
    init?(_ watch: SocketWatch) {
        guard let easy = unsafe curl_easy_init() else { return nil }
        self.watch = watch
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

    /// Has the connection closed when the transfer ends.
    func closeConnection() {
        settings.closesConnection = true
        set(CURLOPT_FORBID_REUSE, 1)
    }

    /// Leaves the connection open, whatever the plan has: one of HTTP/2 is not closed for one of its streams, and if it were,
    /// nothing would distinguish the end of a body from the end of the connection.
    func keepConnection() {
        guard settings.closesConnection else { return }
        settings.closesConnection = false
        set(CURLOPT_FORBID_REUSE, 0)
    }

    /// Sets the options of a plan: those that differ from the last plan's, and trust every time.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - standard: The header lines of a plan that has none of its own.
    /// - Returns: The first code that is not `CURLE_OK`, if any option was refused.
    func apply(_ plan: TransferPlan, standard: TextList) -> CURLcode {
        // What decides whom the request may reach is never taken for "the same as last time".
        var refused = set(CURLOPT_PINNEDPUBLICKEY, plan.leafPins)
        if refused == CURLE_OK { refused = set(CURLOPT_SSL_SESSIONID_CACHE, plan.resumesTLS ? 1 : 0) }
        let last = self.plan
        if refused == CURLE_OK, plan === last, settings.closesConnection == plan.closesConnection { return CURLE_OK }
        let isUnsure = last == nil
        self.plan = nil
        let lines = plan.headerLines ?? standard
        func update(_ isChanged: Bool, _ set: @autoclosure () -> CURLcode) {
            if isChanged || isUnsure, refused == CURLE_OK { refused = set() }
        }
        update(last?.url != plan.url, ask(plan.url))
        update(last?.target != plan.target, set(CURLOPT_REQUEST_TARGET, plan.target))
        update(last?.version != plan.version, set(CURLOPT_HTTP_VERSION, plan.version))
        update(
            settings.closesConnection != plan.closesConnection,
            set(CURLOPT_FORBID_REUSE, plan.closesConnection ? 1 : 0)
        )
        let (isFresh, waits) = (plan.needsFreshConnection, plan.waitsForMultiplexing)
        update(last?.needsFreshConnection != isFresh, set(CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0))
        update(last?.waitsForMultiplexing != waits, set(CURLOPT_PIPEWAIT, waits ? 1 : 0))
        update(last?.connectTimeout != plan.connectTimeout, set(CURLOPT_CONNECTTIMEOUT_MS, plan.connectTimeout))
        update(last?.expectWait != plan.expectWait, set(CURLOPT_EXPECT_100_TIMEOUT_MS, plan.expectWait))
        if last?.content != plan.content || last?.method != plan.method || isUnsure {
            // The order counts: turning one of these off makes the request a GET.
            update(true, set(CURLOPT_NOBODY, 0))
            update(true, set(CURLOPT_UPLOAD, 0))
            update(true, set(CURLOPT_HTTPGET, 1))
            switch plan.content {
            case .none: break
            case .noneEitherWay: update(true, set(CURLOPT_NOBODY, 1))
            case .sent(let length):
                update(true, set(CURLOPT_UPLOAD, 1))
                update(true, set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1))
            }
            update(true, set(CURLOPT_CUSTOMREQUEST, plan.method))
        }
        update(true, take(plan.route))
        if plan.hasTrailers || last?.hasTrailers ?? false { update(true, sendTrailers(plan.hasTrailers)) }
        if let credentials = plan.digestCredentials {
            update(true, answerChallenges(with: credentials, waiting: plan.waitsForChallenge))
        }
        if lines !== self.lines {
            self.lines = lines
            update(true, unsafe lines.withList { list in unsafe shim_easy_set_list(pointer, CURLOPT_HTTPHEADER, list) })
        }
        guard refused == CURLE_OK else { return refused }
        settings.closesConnection = plan.closesConnection
        self.plan = plan
        return CURLE_OK
    }

    /// The text is what libcurl reports as the URL, and what it sends to a proxy.
    private func ask(_ url: String) -> CURLcode {
        guard let handle = URLHandle(url) else { return CURLE_URL_MALFORMAT }
        let code = unsafe handle.ask(pointer)
        self.url = handle
        return code == CURLE_OK ? set(CURLOPT_URL, url) : code
    }

    /// Sets lines that stay set until others take their place.
    @discardableResult
    func keep(_ lines: TextList, as option: CURLoption) -> CURLcode {
        let code = unsafe lines.withList { list in unsafe shim_easy_set_list(pointer, option, list) }
        kept[option.rawValue] = lines
        return code
    }

    /// Has libcurl call back with this handle, and with the watch for what outlives every handle: a connection's socket.
    ///
    /// - Returns: The codes of the options that were set.
    func setCallbacks() -> [CURLcode] {
        let codes = [
            unsafe shim_easy_set_header_function(pointer, Callbacks.header),
            unsafe shim_easy_set_write_function(pointer, Callbacks.write),
            unsafe shim_easy_set_read_function(pointer, Callbacks.read),
            unsafe shim_easy_set_seek_function(pointer, Callbacks.seek),
            unsafe shim_easy_set_prereq_function(pointer, Callbacks.prereq),
            unsafe shim_easy_set_resolver_start_function(pointer, Callbacks.resolverStart),
            unsafe shim_easy_set_socket_option_function(pointer, Callbacks.socketOption),
            unsafe shim_easy_set_tls_context_function(pointer, Callbacks.tlsContext),
            unsafe shim_easy_set_close_socket_function(pointer, Callbacks.closeSocket),
            unsafe shim_easy_set_debug_function(pointer, Callbacks.debug),
            unsafe shim_easy_set_progress_function(pointer, Callbacks.progress),
        ]
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        for option in Self.contextOptions { unsafe shim_easy_set_pointer(pointer, option, context) }
        let watch = unsafe Unmanaged.passUnretained(watch).toOpaque()
        unsafe shim_easy_set_pointer(pointer, CURLOPT_CLOSESOCKETDATA, watch)
        return codes
    }

    private static let contextOptions = [
        CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA,
        CURLOPT_RESOLVER_START_DATA, CURLOPT_SOCKOPTDATA, CURLOPT_SSL_CTX_DATA, CURLOPT_PRIVATE,
        CURLOPT_DEBUGDATA, CURLOPT_XFERINFODATA,
    ]

    /// Carries this transfer from now on.
    func attach(_ transfer: any TransferCallbacks) {
        self.transfer = transfer
        unsafe errorText.pointee = 0
        showHeadsFirst(watch.quirks.contains(.foldedFirstLine))
    }

    /// Has libcurl hand the lines of a head to the write callback, too, and there before it looks at them itself.
    func showHeadsFirst(_ shows: Bool) {
        guard shows != settings.showsHeadsFirst else { return }
        settings.showsHeadsFirst = shows
        set(CURLOPT_HEADER, shows ? 1 : 0)
    }

    /// Lets go of the transfer.
    func detach() {
        transfer = nil
        readPastLength(false)
        if settings.isListening, !settings.namesConnections {
            settings.isListening = false
            set(CURLOPT_VERBOSE, 0)
        }
    }

    // MARK: The way to a request

    /// Has libcurl keep the connection it has just opened, and not use it. The connection itself does not know of it: it was
    /// made for requests, and serves the next one.
    func stopWhenConnected(_ stops: Bool) {
        guard stops != settings.stopsWhenConnected else { return }
        settings.stopsWhenConnected = stops
        set(CURLOPT_CONNECT_ONLY, stops ? 1 : 0)
    }

    /// Sets how old the addresses of a name may be, in seconds; -1 for any age.
    func setAddressAge(_ seconds: Int) {
        guard seconds != settings.addressAge else { return }
        settings.addressAge = seconds
        set(CURLOPT_DNS_CACHE_TIMEOUT, seconds)
    }

    /// Sets how much to read at once, in bytes.
    func setBufferSize(_ count: Int) {
        guard count != settings.bufferSize else { return }
        settings.bufferSize = count
        set(CURLOPT_BUFFERSIZE, count)
    }

    // MARK: HTTP/2

    /// Turns libcurl's verbose text on, where a GOAWAY is reported in no other way. It costs libcurl some formatting.
    func listen() {
        guard !settings.isListening, watch.quirks.contains(.silentGoAway) else { return }
        settings.isListening = true
        set(CURLOPT_VERBOSE, 1)
    }

    /// Has libcurl read to the end of the stream, whatever length was announced: where trailers may stand.
    func readPastLength(_ reads: Bool) {
        guard reads != settings.readsPastLength else { return }
        settings.readsPastLength = reads
        set(CURLOPT_IGNORE_CONTENT_LENGTH, reads ? 1 : 0)
    }

    // MARK: Unix sockets

    /// Turns libcurl's verbose text on where it alone names the connection over a Unix socket that libcurl chooses.
    func nameConnections() -> CURLcode {
        guard watch.quirks.contains(.unnamedUnixConnection) else { return CURLE_OK }
        (settings.namesConnections, settings.isListening) = (true, true)
        return set(CURLOPT_VERBOSE, 1)
    }

    // MARK: Ending

    /// Lets go of what libcurl holds of a paused transfer, which nobody takes any more: where other streams stay on its
    /// connection, libcurl would never free it.
    func dropWhatIsHeld() {
        transfer = nil
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }

    // MARK: Facts

    /// Whether libcurl has words for what went wrong.
    var hasErrorMessage: Bool { unsafe errorText.pointee != 0 }

    /// libcurl's own words for what went wrong, or those for the code.
    func message(for code: CURLcode) -> String {
        let text = unsafe String(cString: errorText)
        return text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
    }
}
