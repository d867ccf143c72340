internal import CCurl
internal import FoundationEssentials
internal import NetworkStack

/// What libcurl calls. Each rebuilds its buffer, calls one method of the transfer, translates the answer and returns.
enum Callbacks {
    /// The transfer that a handle, which is the context of its callbacks, carries now.
    static func transfer(of context: UnsafeMutableRawPointer?) -> Transfer? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer }
    }

    /// The transfer that a handle of libcurl's carries, if it is one of the stack's.
    static func transfer(ofHandle easy: UnsafeMutableRawPointer?) -> Transfer? {
        guard let easy = unsafe easy else { return nil }
        var context: UnsafeMutableRawPointer?
        unsafe shim_easy_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return unsafe transfer(of: context)
    }

    /// Runs `body` with that transfer, which its handle keeps meanwhile: for what is called many times in a transfer.
    private static func withTransfer<Answer>(
        of context: UnsafeMutableRawPointer?,
        _ body: (Transfer) -> Answer
    ) -> Answer? {
        guard let context = unsafe context else { return nil }
        let current = unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { unsafe $0.current }
        return unsafe current?._withUnsafeGuaranteedRef(body)
    }

    static let header: curl_write_callback = { bytes, size, count, context in
        guard let bytes = unsafe bytes else { return 0 }
        let start = unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self)
        let isTaken = unsafe withTransfer(of: context) {
            $0.received(headerLine: unsafe Span(_unsafeStart: start, count: size * count))
        }
        return isTaken ?? false ? size * count : 0
    }

    static let write: curl_write_callback = { bytes, size, count, context in
        guard let bytes = unsafe bytes else { return 0 }
        let taken: Transfer.Taken? = unsafe withTransfer(of: context) { transfer in
            guard transfer.head.isComplete else {
                let start = unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self)
                let piece = unsafe Span(_unsafeStart: start, count: size * count)
                return transfer.mayRead(headerLine: piece) ? .taken : .abort
            }
            return transfer.received(body: unsafe RawSpan(_unsafeStart: bytes, byteCount: size * count))
        }
        return switch taken ?? .abort {
        case .taken: size * count
        case .pause: shim_write_pause
        case .abort: 0
        }
    }

    static let read: curl_read_callback = { bytes, size, count, context in
        guard let bytes = unsafe bytes, let transfer = unsafe transfer(of: context) else { return shim_read_abort }
        var place = unsafe MutableRawSpan(_unsafeStart: bytes, byteCount: size * count)
        switch transfer.send(into: &place) {
        case .bytes(let sent): return sent
        case .end: return 0
        case .pause: return shim_read_pause
        case .abort: return shim_read_abort
        }
    }

    static let trailers: curl_trailer_callback = { list, context in
        guard let list = unsafe list, let transfer = unsafe transfer(of: context) else { return CURL_TRAILERFUNC_ABORT }
        for field in transfer.content?.trailers ?? [:] {
            guard let grown = unsafe curl_slist_append(list.pointee, "\(field.name): \(field.value)") else {
                return CURL_TRAILERFUNC_ABORT
            }
            unsafe list.pointee = grown
        }
        return CURL_TRAILERFUNC_OK
    }

    static let seek: curl_seek_callback = { context, offset, origin in
        guard offset == 0, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
        guard let transfer = unsafe transfer(of: context) else { return CURL_SEEKFUNC_FAIL }
        return transfer.rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }

    static let prereq: curl_prereq_callback = { context, remote, local, remotePort, localPort in
        let ends = unsafe OpenSockets.Ends(
            local: ConnectionEnd(local, port: localPort),
            remote: ConnectionEnd(remote, port: remotePort)
        )
        let mayUse = unsafe withTransfer(of: context) { $0.connected(at: $0.unixEnds ?? ends) }
        return mayUse ?? false ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    static let resolverStart: curl_resolver_start_callback = { _, _, context in
        guard let transfer = unsafe transfer(of: context) else { return 1 }
        transfer.entered(.resolving)
        return 0
    }

    static let socketOption: curl_sockopt_callback = { context, descriptor, _ in
        guard let transfer = unsafe transfer(of: context) else { return CURL_SOCKOPT_ERROR }
        guard transfer.mayConnect() else { return CURL_SOCKOPT_ERROR }
        transfer.easy?.watch.opened(descriptor)
        transfer.opened(descriptor)
        return CURL_SOCKOPT_OK
    }

    static let closeSocket: curl_closesocket_callback = { context, descriptor in
        guard let context = unsafe context else { return 1 }
        return unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue().close(descriptor) ? 0 : 1
    }

    static let tlsContext: curl_ssl_ctx_callback = { _, tls, context in
        guard let transfer = unsafe transfer(of: context), let tls = unsafe tls else {
            return CURLE_ABORTED_BY_CALLBACK
        }
        guard let easy = transfer.easy, unsafe easy.authorities.install(in: OpaquePointer(tls)) else {
            transfer.hasNoAuthorities()
            return CURLE_SSL_CACERT_BADFILE
        }
        // A connection's first handshake is the proxy's, and the next one leads through that.
        let proxy = transfer.handshakes > 0 ? transfer.tlsRecord : nil
        let context = OpaquePointer(tls)
        let record = unsafe TLSRecord.install(
            in: context,
            peers: transfer.peers,
            through: proxy,
            reading: transfer.turn.reads,
            namesHosts: easy.namesHosts
        )
        guard let record else { return CURLE_OUT_OF_MEMORY }
        transfer.secures(with: record)
        return CURLE_OK
    }

    static let progress: curl_xferinfo_callback = { context, _, _, _, _ in
        guard let transfer = unsafe transfer(of: context) else { return 0 }
        return transfer.isRefusedTunnel ? 1 : 0
    }

    static let debug: curl_debug_callback = { _, kind, bytes, count, context in
        guard kind == CURLINFO_TEXT, let bytes = unsafe bytes, let transfer = unsafe transfer(of: context) else {
            return 0
        }
        let start = unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self)
        transfer.heard(unsafe Span(_unsafeStart: start, count: count))
        return 0
    }

    static let socket: curl_socket_callback = { easy, descriptor, what, context, _ in
        // A connection that was closed beside one that shares it has none.
        guard let context = unsafe context, descriptor >= 0 else { return 0 }
        let isWatched = what != CURL_POLL_REMOVE
        if isWatched, CurlLibrary.shared.readsWhatIsPaused { unsafe transfer(ofHandle: easy)?.socket = descriptor }
        if !isWatched, !CurlLibrary.shared.triesNextAddressAtOnce { unsafe transfer(ofHandle: easy)?.lostSocket() }
        unsafe Unmanaged<SocketWatch>.fromOpaque(context)._withUnsafeGuaranteedRef { watch in
            watch.changed(
                descriptor,
                reads: isWatched && what & CURL_POLL_IN != 0,
                writes: isWatched && what & CURL_POLL_OUT != 0
            )
        }
        return 0
    }

    static let timer: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context = unsafe context else { return 0 }
        unsafe Unmanaged<SocketWatch>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.timerChanged(milliseconds) }
        return 0
    }
}
