internal import CCurl
internal import FoundationEssentials
internal import NetworkStack

/// Transfers that may share connections: one multi handle, and easy handles whose common options are set once.
final class Pool {
    let multi: MultiHandle
    private let configuration: Network.Configuration
    private let authorities: Authorities
    private let contentCodings: String
    /// The header lines of requests without fields.
    private let standardLines: TextList
    /// Where connections lead and come from, unless libcurl chooses.
    private let addresses: AddressPlan?
    /// Whether any hop may go by a proxy. Checked first, because choosing one copies the configuration.
    private let usesProxies: Bool
    /// Decides what a proxy must prove.
    private let judge: ServerTrustJudge?
    /// Handles kept ready.
    @safe @exclusivity(unchecked)
    private var spare: [EasyHandle] = []
    private let addressAge: AddressAge
    /// How often it was looked at since a transfer was here (``Pools/closeUnused(beside:at:)``).
    var looks = 0
    /// The latest hop that can serve again, and its plan. A small fetch would take 5 % more instructions without it.
    private var recent: (hop: HTTPHop, joinsHTTP2: Bool, mayShare: Bool, plan: TransferPlan)?

    private static let strayCredentials =
        "Proxy-Authorization would reach the origin; a proxy's credentials belong to the proxy of the configuration."

    /// Handles kept ready beyond this are freed.
    private static let spareLimit = 256

    /// Makes a pool.
    ///
    /// - Parameters:
    ///   - configuration: What is the same for all its transfers.
    ///   - authorities: What verifies its handshakes.
    ///   - contentCodings: What can be decoded, as in `Accept-Encoding`.
    ///   - multi: Carries its transfers.
    init(
        configuration: Network.Configuration,
        authorities: Authorities,
        contentCodings: String,
        multi: MultiHandle
    ) {
        self.contentCodings = contentCodings
        standardLines = TransferPlan.headerLines(
            userAgent: configuration.userAgent,
            sendsDefaultAccept: configuration.sendsDefaultAccept,
            contentCodings: contentCodings
        )
        self.multi = multi
        addresses = configuration.addresses == .init() ? nil : AddressPlan(configuration.addresses)
        addressAge = AddressAge(
            configuration.addresses.dnsCacheAge,
            mayRest: !multi.quirks.contains(.forgottenAddresses)
        )
        self.configuration = configuration
        usesProxies = !configuration.proxies.isEmpty
        self.authorities = authorities
        judge = configuration.serverTrust.map { ServerTrustJudge($0, now: configuration.wallClock) }
    }

    /// Has libcurl carry a transfer, from now on.
    ///
    /// - Returns: libcurl's code if it would not.
    func begin(_ transfer: Transfer, at now: MonotonicTime) -> CURLcode {
        let easy: EasyHandle
        do throws(RefusedOption) {
            guard let handle = try handle(for: transfer) else { return CURLE_OUT_OF_MEMORY }
            easy = handle
        } catch {
            return error.code
        }
        transfer.easy = easy
        easy.attach(transfer)
        easy.setAddressAge(addressAge.next(at: now))
        let route = usesProxies ? ProxyRoute(transfer.control.hop, configuration) : nil
        // Once for a request, over however many connections it is carried.
        if let proxy = route?.proxy, proxy.scheme == .https, transfer.tlsProxy == nil {
            do throws(ServerTrustError) {
                let origin = transfer.control.hop.origin
                let server = try judge?.pinned(proxy, for: origin) { transfer.control.sink.mismatched($0) }
                transfer.tlsProxy = .init(serverName: proxy.serverName, server: server)
            } catch {
                transfer.stop = .untrusted(error)
                return CURLE_ABORTED_BY_CALLBACK
            }
        }
        if route?.isTunnel ?? usesProxies, transfer.control.hop.request.headers.contains(.proxyAuthorization) {
            transfer.stop = .invalidRequest(Self.strayCredentials)
            return CURLE_FAILED_INIT
        }
        transfer.attempt.mayNegotiateHTTP2 = !transfer.hostQueue.hints.misstatesVersion
        let plan = plan(of: transfer, route)
        easy.setBufferSize(plan.bufferSize(sendsMuch: transfer.hostQueue.hints.sendsMuch))
        do throws(RefusedOption) {
            try easy.apply(plan, standard: standardLines)
            // The handle is not used again then.
            if transfer.sends.needsFreshConnection { try easy.set(CURLOPT_FRESH_CONNECT, 1) }
        } catch {
            return error.code
        }
        return multi.add(easy) == CURLM_OK ? CURLE_OK : CURLE_FAILED_INIT
    }

    /// What a transfer means to libcurl. A hop that comes again means what it meant before.
    private func plan(of transfer: Transfer, _ route: ProxyRoute?) -> TransferPlan {
        let hop = transfer.request.answer ?? transfer.control.hop
        let mayShare = transfer.hostQueue.sharing != .unshared
        // Each is read separately: reading the whole value would copy it.
        if transfer.attempt.mayNegotiateHTTP2, recent?.hop === hop, recent?.joinsHTTP2 == transfer.attempt.joinsHTTP2,
            recent?.mayShare == mayShare, let plan = recent?.plan
        {
            return plan
        }
        let plan = TransferPlan(
            hop,
            userAgent: configuration.userAgent,
            sendsDefaultAccept: configuration.sendsDefaultAccept,
            contentCodings: contentCodings,
            joinsHTTP2: transfer.attempt.joinsHTTP2,
            mayShareConnection: mayShare,
            mayNegotiateHTTP2: transfer.attempt.mayNegotiateHTTP2,
            asksFirst: transfer.request.awaitsContinue,
            waitsForChallenge: transfer.request.awaitsChallenge,
            proxy: route,
            resumesTLS: transfer.tlsProxy?.server == nil,
            usesConnectionOnce: addresses?.usesConnectionsOnce ?? false,
            quirks: multi.quirks
        )
        recent = hop.servesAgain && route == nil ? (hop, transfer.attempt.joinsHTTP2, mayShare, plan) : nil
        return plan
    }

    /// Takes a transfer's handle back; a transfer under way is dropped, and with it its connection or stream.
    func end(_ transfer: Transfer) {
        guard transfer.easy != nil else { return }
        let mayHold =
            multi.quirks.contains(.heldHTTP2Input) && transfer.response.isPaused && transfer.attempt.stream != nil
        transfer.pauseReceiving(false)
        transfer.pauseSending(false)
        guard let easy = transfer.easy.take() else { return }
        looks = 0
        transfer.context.agenda.drop(of: transfer)
        // Before the handle leaves: libcurl would take the connection along.
        easy.stopWhenConnected(false)
        if mayHold { easy.dropWhatIsHeld() }
        multi.remove(easy)
        addressAge.ended(with: easy.settings.addressAge, aloneOnConnection: transfer.isAloneOnConnection, at: .now)
        multi.forget(transfer.attempt.openedSockets, of: transfer.id)
        easy.detach()
        // libcurl counts how often it sent something again for as long as there is the handle, and gives up at the sixth. The
        // system's error of an unresponsive address would be reported with the next failure, too.
        guard transfer.mayKeepHandle, spare.count < Self.spareLimit, mayReuse(transfer) else { return }
        if easy.fact(CURLINFO_OS_ERRNO) == 0 { spare.append(easy) }
    }

    /// Whether a transfer may use a kept handle, and leave its own for others. A handle that answers challenges keeps the credentials
    /// and what a server sent about them; one that sent trailers keeps how far it got with them: they are used once.
    private func mayReuse(_ transfer: Transfer) -> Bool {
        !transfer.request.answersChallenges && !transfer.control.hop.hasTrailers
    }

    /// Takes the handle of a transfer that is abandoned, and frees its exchange at once: an HTTP/1.1 connection is closed, an
    /// HTTP/2 stream reset. libcurl leaves the reset in its buffer until the connection is used again, so another
    /// transfer on it is made to send, and a connection that carries no other is closed.
    func abandon(_ transfer: Transfer, beside others: some Sequence<Transfer>) {
        var sibling = sibling(of: transfer, among: others)
        if sibling == nil, transfer.attempt.stream != nil, others.contains(where: { $0.isAboutToJoin(transfer) }) {
            // They find their connection first, which is this one if it can be shared.
            transfer.context.actOnTimeout(multi)
            sibling = self.sibling(of: transfer, among: others)
        }
        if sibling == nil { transfer.easy?.closeConnection() }
        end(transfer)
        sibling?.sendWhatIsBuffered()
    }

    /// Has the reset of a stream sent that libcurl itself has left, with the rest of the request unsent. If no other is on
    /// the connection, its next request takes the reset along.
    func sendReset(of transfer: Transfer, beside others: some Sequence<Transfer>) {
        sibling(of: transfer, among: others)?.sendWhatIsBuffered()
    }

    /// Has libcurl look at a connection through the other transfers on it, one after the other. If libcurl has failed the connection, it
    /// ends each of them as if in order, and closes the connection with the last.
    ///
    /// - Returns: The connection, if it is still in use.
    func probeConnection(of transfer: Transfer, among others: some Sequence<Transfer>) -> Connection? {
        for other in others
        where other.shares(transfer.attempt.connection) && other !== transfer && !other.response.isPaused {
            other.easy?.sendWhatIsBuffered()
            transfer.context.actOnTimeout(multi)
            // A transfer that has ended has no connection: libcurl fails.
            if other.easy?.resume() == CURLE_OK { return transfer.attempt.connection }
        }
        return nil
    }

    /// Another transfer on the same HTTP/2 connection, preferably one that is not held back.
    private func sibling(of transfer: Transfer, among others: some Sequence<Transfer>) -> Transfer? {
        guard transfer.attempt.stream != nil, let connection = transfer.attempt.connection else { return nil }
        var heldBack: Transfer?
        for other in others where other.shares(connection) && other !== transfer {
            guard other.response.isPaused else { return other }
            heldBack = other
        }
        return heldBack
    }

    /// The next transfer that has ended, with libcurl's result.
    func nextFinished() -> (Transfer, CURLcode)? {
        while let (owner, code) = multi.nextFinished() {
            if let transfer = owner as? Transfer { return (transfer, code) }
        }
        return nil
    }

    /// A handle; `nil` if there is no memory for a new one. Without one of its options, such as a callback, it would carry requests past a
    /// gate.
    private func handle(for transfer: Transfer) throws(RefusedOption) -> EasyHandle? {
        if mayReuse(transfer), let easy = spare.popLast() { return easy }
        guard let easy = EasyHandle(multi) else { return nil }
        try prepare(easy)
        return easy
    }

    /// Sets what is the same for all transfers.
    private func prepare(_ easy: EasyHandle) throws(RefusedOption) {
        try easy.setCallbacks()
        try easy.set(CURLOPT_NOSIGNAL, 1)
        // Without it, dropping a transfer waits for its name lookup, and the whole loop with it.
        try easy.set(CURLOPT_QUICK_EXIT, 1)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        // Bodies are decoded here, where a stream that is cut short is noticed.
        try easy.set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // No proxy from the environment, and no exceptions.
        try easy.set(CURLOPT_PROXY, "")
        try easy.set(CURLOPT_NOPROXY, "")
        try easy.set(configuration.tls, authorities)
        try addresses?.apply(to: easy)
        if let age = configuration.connections.lifetime {
            try easy.set(CURLOPT_MAXLIFETIME_CONN, max(1, Int(clamping: age.parts.seconds)))
        }
        if let age = configuration.connections.idleAge {
            try easy.set(CURLOPT_MAXAGE_CONN, max(1, Int(clamping: age.parts.seconds)))
        }
    }
}

/// How old the addresses of a name may be, transfer by transfer.
///
/// With an age set, libcurl walks its whole table of names after each transfer that was alone on its connection, which is 2 % of a small
/// request. So, unless the age is short, one transfer in 15 seconds has an age, and removes old addresses for the others.
final class AddressAge {
    /// Any age will do.
    static let any = -1
    /// How many seconds addresses are not checked.
    private static let rest = 15

    private let seconds: Int
    private let mayRest: Bool
    private var thrownOutAt: MonotonicTime?

    /// Makes a rule by which no address is used that is older than this, rounded up to seconds.
    ///
    /// - Parameters:
    ///   - oldest: How old.
    ///   - mayRest: Whether any age may be set (not with ``LibcurlQuirks/forgottenAddresses``).
    init(_ oldest: Duration, mayRest: Bool) {
        let (seconds, rest) = oldest.parts
        self.seconds = Int(clamping: min(seconds + (rest > 0 ? 1 : 0), 1 << 31 - 1))
        self.mayRest = mayRest && self.seconds >= 4 * Self.rest
    }

    /// The age to set for a transfer that begins now, in seconds.
    func next(at now: MonotonicTime) -> Int {
        guard mayRest else { return seconds }
        if let thrownOutAt, now - thrownOutAt < .seconds(Self.rest) { return Self.any }
        return seconds - Self.rest
    }

    /// A transfer has ended, which may be long after it began.
    ///
    /// - Parameters:
    ///   - age: The age that was set for it.
    ///   - aloneOnConnection: Whether it had a connection, and did not share it.
    ///   - now: The moment.
    func ended(with age: Int?, aloneOnConnection: Bool, at now: @autoclosure () -> MonotonicTime) {
        if age != Self.any, aloneOnConnection { thrownOutAt = now() }
    }
}
