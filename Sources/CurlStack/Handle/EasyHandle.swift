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
    /// The plan whose options are set; `nil` while they are being set.
    private var plan: TransferPlan?
    /// The options that change while a plan stays, as they are set.
    private(set) var settings = Settings()
    /// The URL it asks for, which libcurl does not copy.
    var url: URLHandle?
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
        /// Whether libcurl reads on after a body of the announced length.
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

    /// Changes a flag or a number that libcurl takes in every state.
    private func change(_ option: CURLoption, _ value: Int) { unsafe shim_easy_set_long(pointer, option, value) }

    /// Has the connection closed when the transfer ends.
    func closeConnection() {
        settings.closesConnection = true
        change(CURLOPT_FORBID_REUSE, 1)
    }

    /// Leaves the connection open, whatever the plan has: one of HTTP/2 is not closed for one of its streams, and if it were,
    /// nothing would distinguish the end of a body from the end of the connection.
    func keepConnection() {
        guard settings.closesConnection else { return }
        settings.closesConnection = false
        change(CURLOPT_FORBID_REUSE, 0)
    }

    /// Sets the options of a plan: those that differ from the last plan's, and trust every time.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - standard: The header lines of a plan without any.
    /// - Throws: ``RefusedOption``.
    func apply(_ plan: TransferPlan, standard: TextList) throws(RefusedOption) {
        // What decides which server the request may reach is set for every request.
        try set(CURLOPT_PINNEDPUBLICKEY, plan.route.leafPins)
        try set(CURLOPT_SSL_SESSIONID_CACHE, plan.route.resumesTLS ? 1 : 0)
        let (last, closes) = (self.plan, plan.route.closesConnection)
        if plan === last, settings.closesConnection == closes { return }
        // Until all options are set, the handle has those of no plan.
        self.plan = nil
        try apply(plan.route, after: last?.route)
        try apply(plan.message, after: last?.message, standard: standard)
        self.plan = plan
    }

    private func apply(_ route: TransferPlan.Route, after last: TransferPlan.Route?) throws(RefusedOption) {
        if last == nil || settings.closesConnection != route.closesConnection {
            try set(CURLOPT_FORBID_REUSE, route.closesConnection ? 1 : 0)
            settings.closesConnection = route.closesConnection
        }
        if last?.version != route.version { try set(CURLOPT_HTTP_VERSION, route.version) }
        if last?.needsFreshConnection != route.needsFreshConnection {
            try set(CURLOPT_FRESH_CONNECT, route.needsFreshConnection ? 1 : 0)
        }
        if last?.waitsForMultiplexing != route.waitsForMultiplexing {
            try set(CURLOPT_PIPEWAIT, route.waitsForMultiplexing ? 1 : 0)
        }
        if last?.connectTimeout != route.connectTimeout { try set(CURLOPT_CONNECTTIMEOUT_MS, route.connectTimeout) }
        try take(route.proxy)
    }

    private func apply(
        _ message: TransferPlan.Message,
        after last: TransferPlan.Message?,
        standard: TextList
    ) throws(RefusedOption) {
        if last?.url != message.url { try set(url: message.url) }
        if last == nil || last?.target != message.target { try set(CURLOPT_REQUEST_TARGET, message.target) }
        if last?.expectWait != message.expectWait { try set(CURLOPT_EXPECT_100_TIMEOUT_MS, message.expectWait) }
        if last?.body != message.body || last?.method != message.method {
            // The order counts: turning one of these off makes the request a GET.
            try set(CURLOPT_NOBODY, 0)
            try set(CURLOPT_UPLOAD, 0)
            try set(CURLOPT_HTTPGET, 1)
            switch message.body {
            case .none: break
            case .noneEitherWay: try set(CURLOPT_NOBODY, 1)
            case .sent(let length):
                try set(CURLOPT_UPLOAD, 1)
                try set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1)
            }
            try set(CURLOPT_CUSTOMREQUEST, message.method)
        }
        if message.hasTrailers || last?.hasTrailers ?? false { try sendTrailers(message.hasTrailers) }
        if let credentials = message.digestCredentials {
            try answerChallenges(with: credentials, waiting: message.waitsForChallenge)
        }
        let lines = message.headerLines ?? standard
        if lines !== self.lines {
            self.lines = lines
            try setList(lines, CURLOPT_HTTPHEADER)
        }
    }

    /// Sets lines that stay set until others take their place.
    func keep(_ lines: TextList, as option: CURLoption) throws(RefusedOption) {
        kept[option.rawValue] = lines
        try setList(lines, option)
    }

    private func setList(_ lines: TextList, _ option: CURLoption) throws(RefusedOption) {
        try RefusedOption.check(unsafe lines.withList { list in unsafe shim_easy_set_list(pointer, option, list) })
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
        change(CURLOPT_HEADER, shows ? 1 : 0)
    }

    /// Releases the transfer.
    func detach() {
        transfer = nil
        readPastLength(false)
        if settings.isListening, !settings.namesConnections {
            settings.isListening = false
            change(CURLOPT_VERBOSE, 0)
        }
    }

    // MARK: The way to a request

    /// Has libcurl keep the connection it has just opened, and not use it. The connection itself does not know of it: it was
    /// made for requests, and serves the next one.
    func stopWhenConnected(_ stops: Bool) {
        guard stops != settings.stopsWhenConnected else { return }
        settings.stopsWhenConnected = stops
        change(CURLOPT_CONNECT_ONLY, stops ? 1 : 0)
    }

    /// Sets how old the addresses of a name may be, in seconds; -1 for any age.
    func setAddressAge(_ seconds: Int) {
        guard seconds != settings.addressAge else { return }
        settings.addressAge = seconds
        change(CURLOPT_DNS_CACHE_TIMEOUT, seconds)
    }

    /// Sets how much to read at once, in bytes.
    func setBufferSize(_ count: Int) {
        guard count != settings.bufferSize else { return }
        settings.bufferSize = count
        change(CURLOPT_BUFFERSIZE, count)
    }

    // MARK: HTTP/2

    /// Turns libcurl's verbose text on, where a GOAWAY is reported in no other way. It costs libcurl some formatting.
    func listen() {
        guard !settings.isListening, multi.quirks.contains(.silentGoAway) else { return }
        settings.isListening = true
        change(CURLOPT_VERBOSE, 1)
    }

    /// Has libcurl read to the end of the stream, whatever length was announced: where trailers may stand.
    func readPastLength(_ reads: Bool) {
        guard reads != settings.readsPastLength else { return }
        settings.readsPastLength = reads
        change(CURLOPT_IGNORE_CONTENT_LENGTH, reads ? 1 : 0)
    }

    // MARK: Unix sockets

    /// Turns libcurl's verbose text on where only that text names the connection that libcurl chooses over a Unix socket.
    func nameConnections() throws(RefusedOption) {
        guard multi.quirks.contains(.unnamedUnixConnection) else { return }
        (settings.namesConnections, settings.isListening) = (true, true)
        try set(CURLOPT_VERBOSE, 1)
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

    /// libcurl's message for what went wrong. If there is none, or it may quote a proxy's credentials, the general message for the code.
    func message(for code: CURLcode) -> String {
        let text = unsafe String(cString: errorText)
        let isShown = !text.isEmpty && !(route?.proxy.mayBeRevealed(by: text) ?? false)
        return isShown ? text : unsafe String(cString: curl_easy_strerror(code))
    }
}

/// What libcurl reports of a transfer (`curl_easy_getinfo`).
extension EasyHandle {
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

    /// The server's IP address (`CURLINFO_PRIMARY_IP`), or `nil` before there is a connection. For a Unix socket, libcurl reports its path
    /// there since 8.2.
    var remoteAddress: String? {
        var value: UnsafePointer<CChar>?
        unsafe shim_easy_get_string(pointer, CURLINFO_PRIMARY_IP, &value)
        return unsafe value.flatMap { text in unsafe Endpoint.isAddress(text) ? unsafe String(cString: text) : nil }
    }
}

/// A transfer under way, which libcurl is made to go on with.
extension EasyHandle {
    /// Lets a paused transfer go on in both directions. Its callbacks may run before this returns.
    ///
    /// - Returns: What the transfer failed with if it does not go on, which libcurl does not report again.
    func resume() -> CURLcode { unsafe curl_easy_pause(pointer, CURLPAUSE_CONT) }

    /// Has a transfer's connection send what it has buffered: a change of pause does, and this one is undone at once.
    func sendWhatIsBuffered() {
        unsafe curl_easy_pause(pointer, CURLPAUSE_SEND)
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }

    /// Has libcurl look after a transfer that is not paused: what it has forgotten it holds, or an address to connect to.
    func nudge() {
        unsafe curl_easy_pause(pointer, CURLPAUSE_RECV)
        unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
    }
}
