public import FoundationEssentials

/// Short calls that carry large bodies, with their progress.
extension HTTPNetworkStack where Remote == Data {
    /// Reports the progress of a body: the bytes so far, and the total if it is known. It is called at most ten times a second, and
    /// once more for the last byte, on a thread of the stack or in the calling task. It must not block.
    public typealias Progress = @Sendable (_ count: Int64, _ total: Int64?) -> Void

    /// Fetches a URL into a file.
    ///
    /// The body is written into the same folder, under a name that ends in `.partial`, and renamed when it is complete; a failure
    /// or a cancel removes it.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - path: Where the file is to be; an existing file is replaced.
    ///   - progress: Called with the bytes written and the length that the response announced, if it did.
    ///   - options: Changes the stack's options for this call.
    /// - Returns: The response.
    /// - Throws: The stack's `FetchError`; ``HTTPFetchError/http(_:_:_:)`` for a status that is not 2xx,
    ///   ``HTTPFetchError/localFile(_:_:)`` if the file cannot be written.
    @discardableResult
    public func download(
        from url: some HTTPURLConvertible,
        to path: String,
        progress: Progress? = nil,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> HTTP.Response {
        try await download(for: .get(url), to: path, progress: progress, options: options)
    }

    /// Sends a request and writes the body of its response into a file, as ``download(from:to:progress:options:)`` does.
    ///
    /// - Parameters:
    ///   - request: The request: `.get(url).bearer(token)`.
    ///   - path: Where the file is to be; an existing file is replaced.
    ///   - progress: Called with the bytes written and the length that the response announced, if it did.
    ///   - options: Changes the stack's options for this call.
    /// - Returns: The response.
    /// - Throws: What ``download(from:to:progress:options:)`` throws.
    @discardableResult
    public func download(
        for request: HTTP.RequestBuilder,
        to path: String,
        progress: Progress? = nil,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> HTTP.Response {
        let opened = try await open(request, options)
        var response = try neutral(opened.response).get()
        let limiter = progress.map { ProgressLimiter($0) }
        let total = response.contentLength
        _ = try await opened.value.write(
            to: path,
            localFile: { .localFile($0) },
            progress: { limiter?.report($0, total) }
        )
        limiter?.finish()
        (response.trailers, response.metrics) = (opened.value.trailers, opened.value.metrics ?? response.metrics)
        return response
    }

    /// Sends a body to a URL and returns the response with its body, whatever its status.
    ///
    /// - Parameters:
    ///   - content: The body and its media type, such as `.file(path: path)`.
    ///   - url: The URL, as text or as `URL`.
    ///   - method: The method: PUT unless you pass another.
    ///   - progress: Called with the bytes sent and the length of the body, if it is known. A redirect, a retry or a new connection
    ///     that needs the body again begins again from the first byte.
    ///   - options: Changes the stack's options for this call. ``HTTP/Options/failsForStatus`` makes a status a failure.
    /// - Returns: The body of the response, which may be empty, and the response.
    /// - Throws: The stack's `FetchError`.
    @discardableResult
    public func upload(
        _ content: HTTP.Content,
        to url: some HTTPURLConvertible,
        method: HTTP.Method = .PUT,
        progress: Progress? = nil,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> (Data, HTTP.Response) {
        try await upload(for: HTTP.RequestBuilder(method, url).content(content), progress: progress, options: options)
    }

    /// Sends a request that has a body and returns the response with its body, whatever its status.
    ///
    /// - Parameters:
    ///   - request: The request: `.post(url).multipart(form)`.
    ///   - progress: Called with the bytes sent and the length of the body, if it is known.
    ///   - options: Changes the stack's options for this call.
    /// - Returns: The body of the response, which may be empty, and the response.
    /// - Throws: The stack's `FetchError`.
    @discardableResult
    public func upload(
        for request: HTTP.RequestBuilder,
        progress: Progress? = nil,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> (Data, HTTP.Response) {
        let limiter = progress.map { ProgressLimiter($0) }
        let fetched = try await collect(request) { changed in
            changed.acceptAnyResponse()
            options?(&changed)
            guard let limiter else { return }
            let onBytesSent = changed.onBytesSent
            changed.onBytesSent = { sent, length in
                onBytesSent?(sent, length)
                limiter.report(sent, length)
            }
        }
        limiter?.finish()
        return (fetched.value, try neutral(fetched.response).get())
    }
}

/// Reports progress at most ten times a second, and always the last of it.
final class ProgressLimiter: Sendable {
    private struct State {
        var next = MonotonicTime(nanoseconds: 0)
        /// What was not passed on yet.
        var pending: (Int64, Int64?)?
    }

    private static let interval = Duration.milliseconds(100)

    private let state = Lock(State())
    private let progress: @Sendable (Int64, Int64?) -> Void

    init(_ progress: @escaping @Sendable (Int64, Int64?) -> Void) { self.progress = progress }

    func report(_ count: Int64, _ total: Int64?, now: MonotonicTime = .now) {
        let isDue = state.withLock { state in
            state.pending = (count, total)
            guard now >= state.next else { return false }
            (state.next, state.pending) = (now + Self.interval, nil)
            return true
        }
        if isDue { progress(count, total) }
    }

    func finish() {
        if let (count, total) = state.withLock({ $0.pending.take() }) { progress(count, total) }
    }
}
