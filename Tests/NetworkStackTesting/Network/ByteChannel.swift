/// Bytes over a non-blocking socket, plain or TLS.
///
/// Confined to its connection's thread.
protocol ByteChannel: AnyObject {
    /// Takes the handshake one step further; `.moved` once it is done.
    func handshake() -> ChannelOutcome
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelOutcome
    func write(_ bytes: UnsafeRawBufferPointer) -> ChannelOutcome
    /// Tells the peer that no more bytes follow, as far as the protocol above TCP has words for it.
    func notifyClose()
    /// What the handshake agreed on; nil for plain TCP.
    var agreed: ConnectionRecord.TLS? { get }
    /// Whether the peer's end was announced by close_notify.
    var isCloseNotifySeen: Bool { get }
}

/// What one attempt to move bytes came to.
enum ChannelOutcome {
    /// So many bytes were moved.
    case moved(Int)
    /// Try again once `poll` reports these events.
    case blocked(on: Int16)
    /// The peer has ended its sending half.
    case ended
    /// The peer has reset the connection.
    case reset
    /// The peer has ended TLS with a fatal alert.
    case refused(String)
    case failed(String)
}
