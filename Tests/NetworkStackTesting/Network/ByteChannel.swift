/// Bytes over a non-blocking socket, plain or TLS.
///
/// Used by the connection's thread only.
protocol ByteChannel: AnyObject {
    /// Advances the handshake; returns `.moved` once it is done.
    func handshake() -> ChannelOutcome
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelOutcome
    func write(_ bytes: UnsafeRawBufferPointer) -> ChannelOutcome
    /// Sends close_notify, over TLS.
    func notifyClose()
    /// The result of the handshake; `nil` for plain TCP.
    var agreed: ConnectionRecord.TLS? { get }
    /// Whether the peer has sent close_notify.
    var isCloseNotifySeen: Bool { get }
}

/// The result of one attempt to move bytes.
enum ChannelOutcome {
    /// This many bytes were moved.
    case moved(Int)
    /// Try again once `poll` reports these events.
    case blocked(on: Int16)
    /// The peer has closed its sending half.
    case ended
    /// The peer has reset the connection.
    case reset
    /// The peer has ended TLS with a fatal alert.
    case refused(String)
    case failed(String)
}
