internal import CCurl

extension EasyHandle {
    /// Sets the callbacks. Their context is this handle; for a connection's socket, which outlives it, the multi handle.
    func setCallbacks() throws(RefusedOption) {
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
        for code in codes { try RefusedOption.check(code) }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        for option in Self.contextOptions { unsafe shim_easy_set_pointer(pointer, option, context) }
        let multi = unsafe Unmanaged.passUnretained(multi).toOpaque()
        unsafe shim_easy_set_pointer(pointer, CURLOPT_CLOSESOCKETDATA, multi)
    }

    private static let contextOptions = [
        CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA,
        CURLOPT_RESOLVER_START_DATA, CURLOPT_SOCKOPTDATA, CURLOPT_SSL_CTX_DATA, CURLOPT_PRIVATE,
        CURLOPT_DEBUGDATA, CURLOPT_XFERINFODATA,
    ]
}
