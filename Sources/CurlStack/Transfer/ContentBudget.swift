internal import NetworkStack

/// How much content over HTTP/1.1 libcurl may deliver before it has come back to its loop.
///
/// As long as something waits on a connection, libcurl reads it again and again, and comes back when it has caught up: in the
/// middle of content that comes as fast as it is dealt with, never. Chunks of one byte are sent a hundred times as fast. When
/// the budget is spent, the transfer is paused, and goes on at the end of the turn. TLS has ``ReadBudget`` besides. Content over
/// HTTP/2 is not counted: a pause would be everybody's on its connection.
final class ContentBudget {
    private var left = most
    private var pieces = 0
    /// How much body had been sent by the requests that are answered now.
    private var answered = 0
    /// When the clock was looked at for the first time, in milliseconds.
    private var since: Int64?

    private static let most = 16 << 20
    /// How much content is worth a turn of the loop's.
    static let perTurn = 1 << 20
    /// No longer than this, in milliseconds, whatever there is to do for so much.
    private static let longest: Int64 = 20
    /// Small responses have few pieces, and need not look at the clock.
    private static let piecesPerLook = 64

    /// libcurl is about to be called.
    func renew() { (left, pieces, answered, since) = (Self.most, 0, 0, nil) }

    /// A server has answered a request with so much content. Its caller may be about to send as much again, with all others that
    /// are answered in the same turn.
    func answers(_ count: Int64) { answered += Int(clamping: count) }

    /// Answers whether a piece may be taken still.
    func spend(_ count: Int) -> Bool {
        left -= count
        pieces += 1
        if pieces % Self.piecesPerLook == 0, isLate { left = -1 }
        return left >= 0
    }

    /// What the call counts for in its turn: what it delivered over HTTP/1.1, what the requests that it answered had sent, or so
    /// little that 64 calls are a turn.
    var share: Int { max(Self.most - left, answered, Self.perTurn / 64) }

    private var isLate: Bool {
        let now = MonotonicTime.now.milliseconds
        guard let since else {
            since = now
            return false
        }
        return now - since >= Self.longest
    }
}
