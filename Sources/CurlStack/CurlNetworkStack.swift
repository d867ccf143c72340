public import Dispatch
public import FoundationEssentials
public import NetworkStack

extension Network {
    /// An HTTP stack on libcurl's multi interface.
    ///
    /// Its calls, such as `get(_:as:)`, are those of ``/NetworkStack/HTTPNetworkStack``. A stack has one thread and its own
    /// connections; make one and share it. When its owner drops it, it finishes its fetches and then frees everything;
    /// ``/NetworkStack/HTTPNetworkStack/shutdown()`` ends them at once.
    ///
    /// - Important: Do not use a stack that was made before `fork` in the child process.
    /// - Important: If the program also calls OpenSSL, make a stack first, or call `OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nil)` before
    ///   any other function of OpenSSL. Otherwise OpenSSL cleans up at exit, while a stack's thread may still use it.
    public final class CurlNetworkStack: HTTPTransportStack {
        /// The transport of the stack.
        public typealias Transport = CurlTransport
        /// The neutral request.
        public typealias Request = HTTP.Request
        /// The neutral response.
        public typealias Response = HTTP.Response
        /// The error of libcurl.
        public typealias TransportError = CurlError

        /// A stack with the default configuration, for small programs. It is made when it is first used. What
        /// ``init(configuration:queue:)`` would throw, each fetch throws.
        public static let shared = CurlNetworkStack(orRefusing: .init())

        /// The engine above libcurl.
        public let engine: HTTPEngine<CurlTransport>

        /// Makes a stack.
        ///
        /// - Parameters:
        ///   - configuration: Connections, trust, and the default options of fetches.
        ///   - queue: The queue on which completions run.
        /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if the configuration contradicts itself, if
        ///   authorities or the client's identity cannot be read or used, if libcurl is older than 7.87 or was built
        ///   without OpenSSL or without asynchronous name lookups, or if the system has no thread or file descriptor left;
        ///   ``/NetworkStack/Network/ConfigurationError/unsupported(_:reason:)`` if this libcurl cannot do what the configuration
        ///   asks for.
        public convenience init(
            configuration: Configuration = .init(),
            queue: DispatchQueue = .global()
        ) throws(ConfigurationError) {
            self.init(configuration, queue, try CurlTransport(configuration: configuration))
        }

        /// Makes a stack whose fetches fail with what an initializer would throw, if there is anything to throw.
        package convenience init(orRefusing configuration: Configuration) {
            let transport: CurlTransport
            do { transport = try CurlTransport(configuration: configuration) } catch {
                transport = CurlTransport(refusing: error)
            }
            self.init(configuration, .global(), transport)
        }

        private init(_ configuration: Configuration, _ queue: DispatchQueue, _ transport: CurlTransport) {
            engine = HTTPEngine(
                transport: transport,
                configuration: configuration,
                queue: queue,
                batch: transport.thread?.mailbox.batch,
                events: transport.events
            )
        }

        /// Makes a stack without some work-arounds for defects of libcurl, or without a trust gate, for tests of these.
        package convenience init(
            configuration: Configuration,
            without quirks: LibcurlQuirks,
            lacking gates: TrustGates = []
        ) throws(ConfigurationError) {
            let transport = try CurlTransport(
                configuration: configuration,
                quirks: .running.subtracting(quirks),
                gates: .all.subtracting(gates)
            )
            self.init(configuration, .global(), transport)
        }

        /// Fetches a resource and collects its body. Cancelling the task cancels the fetch.
        ///
        /// - Parameter resource: What to fetch.
        /// - Returns: The body and its response.
        /// - Throws: Why the fetch failed, as an ``/NetworkStack/HTTPFetchError``; ``/NetworkStack/HTTPFetchError/cancelled`` if
        ///   the task was cancelled.
        @inlinable  // so that it is compiled for this stack where it is called
        public func fetch(resource: CurlResource) async throws(CurlFetchError) -> Network.Value<Data, Response> {
            try await engine.fetch(resource)
        }

        /// Fetches a resource and delivers its body while it arrives. Cancelling the task cancels the fetch, as long as this waits.
        ///
        /// - Parameter resource: What to fetch.
        /// - Returns: The stream and the response, when its head has arrived.
        /// - Throws: Why there is no response, as ``/NetworkStack/HTTPFetchError`` has it. A failure after the head is thrown by
        ///   the stream.
        public func stream(
            resource: CurlResource
        ) async throws(CurlFetchError) -> Network.Value<ByteStream<CurlFetchError>, Response> {
            try await engine.stream(resource)
        }

        /// Reads the files of the configuration's TLS again: the client's identity, the authorities, the system's authorities. Call
        /// it when they have been replaced, such as by a certificate manager.
        ///
        /// Requests that begin afterwards use what the files have now, on new connections. They resume no TLS session of the former
        /// files. A request under way finishes on the connection that it has or is opening. Idle connections are closed: at once, or,
        /// if they are in a pool with a request under way, when that ends. The system's authorities are read for all stacks of the
        /// process. Listeners are called (``/NetworkStack/EventListener/certificatesReloaded(error:)``).
        ///
        /// If a file cannot be read or used, everything stays as it was. After a shutdown, nothing uses what was read.
        ///
        /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` with what is wrong, without a byte of it.
        public func reloadCertificates() async throws(ConfigurationError) {
            try await engine.transport.reloadCertificates()
        }
    }

    /// The resource that a curl stack fetches.
    public typealias CurlResource = HTTPResource<HTTP.Request, HTTP.Response>

    /// The error of a fetch on a curl stack.
    public typealias CurlFetchError = HTTPFetchError<HTTP.Response, CurlError>
}

extension Network.CurlNetworkStack {
    /// Has libcurl use a faster memory allocator, in the whole process. Call it before the first stack is made.
    ///
    /// Each stack's thread then keeps up to 2 MiB of what libcurl frees there, for its next allocations. A fetch of 1 KiB then
    /// takes some 14 % less processor time, one of 64 KiB no less (`make bench`).
    ///
    /// libcurl has one allocator in a process (`curl_global_init_mem`), so this is the program's decision, not a
    /// library's. Other code that calls libcurl, such as Foundation, needs no change: all blocks are `malloc`'s. A second call does
    /// nothing. Leave it out under AddressSanitizer, which would not detect the use of memory that libcurl has freed.
    ///
    /// - Throws: ``/NetworkStack/Network/ConfigurationError/invalid(_:)`` if libcurl is initialised already, by a stack, by
    ///   ``CurlLibrary/shared`` or by other code.
    public static func useFastAllocator() throws(Network.ConfigurationError) { try FreeLists.enable() }
}
