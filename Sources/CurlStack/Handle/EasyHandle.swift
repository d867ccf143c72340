internal import CCurl
internal import NetworkStack

/// One libcurl easy handle: options in, facts out. It stays on its loop's thread.
@safe
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    /// The transfer the handle carries now.
    private(set) var transfer: (any TransferCallbacks)?
    /// The multi handle of its transfers.
    let multi: MultiHandle
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
    /// The authorities that verify its handshakes.
    var authorities = Authorities.loadedByCurl
    /// Whether certificates must name their hosts where names count (``HostNames``).
    var namesHosts = true

    /// Options that follow from the connection, or change during a transfer.
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
    init?(_ multi: MultiHandle) {
        guard let easy = unsafe curl_easy_init() else { return nil }
        self.multi = multi
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
    ///   - standard: The header lines of a plan without any.
    /// - Returns: The first code that is not `CURLE_OK`, if any option was refused.
    func apply(_ plan: TransferPlan, standard: TextList) -> CURLcode {
        // What decides which server the request may reach is set for every request.
        var refused = set(CURLOPT_PINNEDPUBLICKEY, plan.route.leafPins)
        if refused == CURLE_OK { refused = set(CURLOPT_SSL_SESSIONID_CACHE, plan.route.resumesTLS ? 1 : 0) }
        let (last, closes) = (self.plan, plan.route.closesConnection)
        if refused == CURLE_OK, plan === last, settings.closesConnection == closes { return CURLE_OK }
        let isUnsure = last == nil
        self.plan = nil
        func update(_ isChanged: Bool, _ set: @autoclosure () -> CURLcode) {
            if isChanged || isUnsure, refused == CURLE_OK { refused = set() }
        }
        update(settings.closesConnection != closes, set(CURLOPT_FORBID_REUSE, closes ? 1 : 0))
        let (route, before) = (plan.route, last?.route)
        update(before?.version != route.version, set(CURLOPT_HTTP_VERSION, route.version))
        let (isFresh, waits) = (route.needsFreshConnection, route.waitsForMultiplexing)
        update(before?.needsFreshConnection != isFresh, set(CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0))
        update(before?.waitsForMultiplexing != waits, set(CURLOPT_PIPEWAIT, waits ? 1 : 0))
        update(before?.connectTimeout != route.connectTimeout, set(CURLOPT_CONNECTTIMEOUT_MS, route.connectTimeout))
        update(true, take(route.proxy))
        if refused == CURLE_OK { refused = apply(plan.message, after: last?.message, standard: standard) }
        guard refused == CURLE_OK else { return refused }
        settings.closesConnection = closes
        self.plan = plan
        return CURLE_OK
    }

    private func apply(
        _ message: TransferPlan.Message,
        after last: TransferPlan.Message?,
        standard: TextList
    ) -> CURLcode {
        let lines = message.headerLines ?? standard
        let isUnsure = last == nil
        var refused = CURLE_OK
        func update(_ isChanged: Bool, _ set: @autoclosure () -> CURLcode) {
            if isChanged || isUnsure, refused == CURLE_OK { refused = set() }
        }
        update(last?.url != message.url, ask(message.url))
        update(last?.target != message.target, set(CURLOPT_REQUEST_TARGET, message.target))
        update(last?.expectWait != message.expectWait, set(CURLOPT_EXPECT_100_TIMEOUT_MS, message.expectWait))
        if last?.content != message.content || last?.method != message.method || isUnsure {
            // The order counts: turning one of these off makes the request a GET.
            update(true, set(CURLOPT_NOBODY, 0))
            update(true, set(CURLOPT_UPLOAD, 0))
            update(true, set(CURLOPT_HTTPGET, 1))
            switch message.content {
            case .none: break
            case .noneEitherWay: update(true, set(CURLOPT_NOBODY, 1))
            case .sent(let length):
                update(true, set(CURLOPT_UPLOAD, 1))
                update(true, set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1))
            }
            update(true, set(CURLOPT_CUSTOMREQUEST, message.method))
        }
        if message.hasTrailers || last?.hasTrailers ?? false { update(true, sendTrailers(message.hasTrailers)) }
        if let credentials = message.digestCredentials {
            update(true, answerChallenges(with: credentials, waiting: message.waitsForChallenge))
        }
        if lines !== self.lines {
            self.lines = lines
            update(true, unsafe lines.withList { list in unsafe shim_easy_set_list(pointer, CURLOPT_HTTPHEADER, list) })
        }
        return refused
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

    /// Carries this transfer from now on.
    func attach(_ transfer: any TransferCallbacks) {
        self.transfer = transfer
        unsafe errorText.pointee = 0
        showHeadsFirst(multi.quirks.contains(.foldedFirstLine))
    }

    /// Has libcurl hand the lines of a head to the write callback, too, and there before it looks at them itself.
    func showHeadsFirst(_ shows: Bool) {
        guard shows != settings.showsHeadsFirst else { return }
        settings.showsHeadsFirst = shows
        set(CURLOPT_HEADER, shows ? 1 : 0)
    }

    /// Releases the transfer.
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
        guard !settings.isListening, multi.quirks.contains(.silentGoAway) else { return }
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

    /// Turns libcurl's verbose text on where only that text names the connection that libcurl chooses over a Unix socket.
    func nameConnections() -> CURLcode {
        guard multi.quirks.contains(.unnamedUnixConnection) else { return CURLE_OK }
        (settings.namesConnections, settings.isListening) = (true, true)
        return set(CURLOPT_VERBOSE, 1)
    }

    // MARK: Ending

    /// Drops what libcurl holds of a paused transfer, which is not read any more: where other streams stay on its
    /// connection, libcurl would never free it.
    func dropWhatIsHeld() {
        transfer = nil
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }

    // MARK: Facts

    /// Whether libcurl has a message for what went wrong.
    var hasErrorMessage: Bool { unsafe errorText.pointee != 0 }

    /// libcurl's message for what went wrong, or that for the code.
    func message(for code: CURLcode) -> String {
        let text = unsafe String(cString: errorText)
        return text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
    }
}
