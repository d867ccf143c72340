internal import CCurl
internal import NetworkStack

/// One libcurl multi handle: a set of transfers that share connections. It stays on its loop's thread.
@safe
final class MultiHandle {
    private var pointer: UnsafeMutableRawPointer
    private let connections: Network.Configuration.Connections
    private let sharesConnections: Bool
    let watch: SocketWatch
    /// How many transfers went on when libcurl came back.
    private(set) var running: Int32 = 0

    /// Makes a handle, or `nil` if there is no memory for one.
    init?(watch: SocketWatch, connections: Network.Configuration.Connections, sharesConnections: Bool) {
        guard let multi = unsafe WakeupPair.makeHandle() else { return nil }
        unsafe pointer = multi
        (self.watch, self.connections, self.sharesConnections) = (watch, connections, sharesConnections)
        setUp()
    }

    /// Tells libcurl what holds for all transfers.
    private func setUp() {
        let context = unsafe Unmanaged.passUnretained(watch).toOpaque()
        unsafe shim_multi_set_socket_function(pointer, Callbacks.socket)
        unsafe shim_multi_set_pointer(pointer, CURLMOPT_SOCKETDATA, context)
        unsafe shim_multi_set_timer_function(pointer, Callbacks.timer)
        unsafe shim_multi_set_pointer(pointer, CURLMOPT_TIMERDATA, context)
        unsafe shim_multi_set_long(pointer, CURLMOPT_PIPELINING, sharesConnections ? shim_multiplex : 0)
        // Of what is more, libcurl keeps 32 bits, which may be none, or takes it for its own limit.
        let streams = min(connections.streamsPerConnection, Int(Int32.max))
        unsafe shim_multi_set_long(pointer, CURLMOPT_MAX_CONCURRENT_STREAMS, streams)
        // How many connections are kept, in use or not. How many are in use is the queue's business.
        unsafe shim_multi_set_long(
            pointer,
            CURLMOPT_MAXCONNECTS,
            max(min(connections.total ?? 0, 1 << 23), min(connections.perHost, 1 << 20) * 8, 64)
        )
    }

    deinit {
        unsafe curl_multi_cleanup(pointer)
        withExtendedLifetime(watch) {}
    }

    /// Closes all connections, where there is no transfer. libcurl does that for a handle that is given up, so another takes its
    /// place; where there is no memory for one, they stay.
    func closeConnections() {
        guard let multi = unsafe WakeupPair.makeHandle() else { return }
        let former = unsafe pointer
        unsafe pointer = multi
        setUp()
        unsafe curl_multi_cleanup(former)
        watch.clearDeadline()
    }

    func add(_ easy: EasyHandle) -> CURLMcode { unsafe curl_multi_add_handle(pointer, easy.pointer) }

    func remove(_ easy: EasyHandle) { unsafe curl_multi_remove_handle(pointer, easy.pointer) }

    /// A socket is ready.
    func act(on event: Poller.Event) {
        var running: Int32 = 0
        let mask =
            (event.canRead ? CURL_CSELECT_IN : 0) | (event.canWrite ? CURL_CSELECT_OUT : 0)
            | (event.hasFailed ? CURL_CSELECT_ERR : 0)
        unsafe curl_multi_socket_action(pointer, event.descriptor, mask, &running)
        self.running = running
    }

    /// libcurl's deadline has come.
    func actOnTimeout() {
        var running: Int32 = 0
        watch.clearDeadline()
        unsafe curl_multi_socket_action(pointer, CURL_SOCKET_TIMEOUT, 0, &running)
        self.running = running
    }

    /// The next transfer that has ended, with its result.
    func nextFinished() -> (any TransferCallbacks, CURLcode)? {
        var left: Int32 = 0
        while let message = unsafe curl_multi_info_read(pointer, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let transfer = unsafe Callbacks.transfer(ofHandle: message.pointee.easy_handle)
            else { continue }
            return unsafe (transfer, shim_message_result(message))
        }
        return nil
    }
}
