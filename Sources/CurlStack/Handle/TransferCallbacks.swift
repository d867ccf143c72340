internal import CCurl
internal import NetworkStack

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
    func watches(_ descriptor: Int32?)
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
