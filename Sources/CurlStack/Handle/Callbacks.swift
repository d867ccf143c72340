internal import CCurl
internal import FoundationEssentials
internal import NetworkStack

/// What libcurl calls. Each rebuilds its buffer, calls one method of the transfer, translates the answer and returns.
enum Callbacks {
    /// What becomes of a part of a response's body.
    enum Taken {
        case taken
        case pause
        case abort
    }

    /// What is sent next of a request's body.
    enum Sending {
        case bytes(Int)
        case end
        case pause
        case abort
    }

    /// The transfer that a handle, which is the context of its callbacks, carries now.
    static func transfer(of context: UnsafeMutableRawPointer?) -> (any TransferCallbacks)? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer }
    }

    /// The transfer that a handle of libcurl's carries, if it is one of the stack's.
    static func transfer(ofHandle easy: UnsafeMutableRawPointer?) -> (any TransferCallbacks)? {
        guard let easy = unsafe easy else { return nil }
        var context: UnsafeMutableRawPointer?
        unsafe shim_easy_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return unsafe transfer(of: context)
    }

    static let header: curl_write_callback = { bytes, size, count, context in
        guard let bytes = unsafe bytes else { return 0 }
        let start = unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self)
        let isTaken = unsafe transfer(of: context)?.received(
            headerLine: unsafe Span(_unsafeStart: start, count: size * count)
        )
        return isTaken ?? false ? size * count : 0
    }

    static let write: curl_write_callback = { bytes, size, count, context in
        guard let bytes = unsafe bytes else { return 0 }
        let taken = unsafe transfer(of: context)?.received(RawSpan(_unsafeStart: bytes, byteCount: size * count))
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
        for field in transfer.trailers {
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
        // For a Unix socket, libcurl reports no local port, and since 8.2 the socket's path as the remote address.
        let endpoints = unsafe EndpointPair(
            local: Endpoint(localPort > 0 ? local : nil, port: Int(localPort)),
            remote: Endpoint(localPort > 0 ? remote : nil, port: Int(remotePort))
        )
        let mayUse = unsafe transfer(of: context)?.connected(at: endpoints)
        return mayUse ?? false ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    static let resolverStart: curl_resolver_start_callback = { _, _, context in
        guard let transfer = unsafe transfer(of: context) else { return 1 }
        transfer.looksUp()
        return 0
    }

    static let socketOption: curl_sockopt_callback = { context, descriptor, _ in
        guard let transfer = unsafe transfer(of: context) else { return CURL_SOCKOPT_ERROR }
        return transfer.opened(descriptor) ? CURL_SOCKOPT_OK : CURL_SOCKOPT_ERROR
    }

    static let closeSocket: curl_closesocket_callback = { context, descriptor in
        guard let context = unsafe context else { return 1 }
        return unsafe Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().close(descriptor) ? 0 : 1
    }

    static let tlsContext: curl_ssl_ctx_callback = { _, tls, context in
        guard let transfer = unsafe transfer(of: context), let tls = unsafe tls else {
            return CURLE_ABORTED_BY_CALLBACK
        }
        return unsafe transfer.secures(in: TLSContext(OpaquePointer(tls)))
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
        transfer.read(debugText: unsafe Span(_unsafeStart: start, count: count))
        return 0
    }

    static let socket: curl_socket_callback = { easy, descriptor, what, context, _ in
        // A connection that was closed beside one that shares it has none.
        guard let context = unsafe context, descriptor >= 0 else { return 0 }
        let isWatched = what != CURL_POLL_REMOVE
        unsafe Unmanaged<MultiHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { multi in
            if isWatched, multi.quirks.contains(.pausedSocketRead) {
                unsafe transfer(ofHandle: easy)?.watches(descriptor)
            }
            if !isWatched, multi.quirks.contains(.stuckConnect) { unsafe transfer(ofHandle: easy)?.lostSocket() }
            let isDone = multi.changed(
                descriptor,
                reads: isWatched && what & CURL_POLL_IN != 0,
                writes: isWatched && what & CURL_POLL_OUT != 0
            )
            if !isDone { unsafe transfer(ofHandle: easy)?.cannotWait() }
        }
        return 0
    }

    static let timer: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context = unsafe context else { return 0 }
        unsafe Unmanaged<MultiHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.timerChanged(milliseconds) }
        return 0
    }
}

/// What libcurl's callbacks call: the transfer that a handle carries. All of it runs on the loop's thread.
protocol TransferCallbacks: AnyObject {
    // MARK: The connection

    /// libcurl begins to look up a host whose addresses are not in its cache.
    func looksUp()
    /// A socket was opened, to connect with. Returns whether it may be used.
    func opened(_ descriptor: Int32) -> Bool
    /// libcurl has no use for a socket any more.
    func lostSocket()
    /// libcurl waits for this socket.
    func watches(_ descriptor: Int32)
    /// The system has no room to watch the socket that libcurl waits for.
    func cannotWait()
    /// TLS is about to be negotiated on a new connection. Returns libcurl's code if it must not be.
    func secures(in context: TLSContext) -> CURLcode
    /// The connection is ready, and the request is about to be sent. Returns whether it may be.
    func connected(at endpoints: EndpointPair) -> Bool
    /// Whether a proxy refuses a tunnel, so that what else it sends is not read.
    var isRefusedTunnel: Bool { get }
    /// Takes a line of libcurl's verbose text.
    func read(debugText text: Span<UInt8>)

    // MARK: The request

    /// Puts the next part of the body where libcurl wants it.
    func send(into place: inout MutableRawSpan) -> Callbacks.Sending
    /// libcurl has to send the body again. Returns whether it can be sent from its beginning.
    func rewind() -> Bool
    /// The fields that follow the body.
    var trailers: HTTP.Headers { get }

    // MARK: The response

    /// Takes a line of a head. Returns whether to go on.
    func received(headerLine line: Span<UInt8>) -> Bool
    /// Takes a part of the body.
    func received(_ bytes: RawSpan) -> Callbacks.Taken
}
