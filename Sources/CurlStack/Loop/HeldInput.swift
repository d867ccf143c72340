internal import NetworkStack

/// The connections of HTTP/2 on which libcurl may hold input that it has read and not dealt with.
///
/// libcurl before 8.1 stops taking a connection's input apart when a stream's buffer is full, and lets that stream take what
/// is its own. What it has read for the streams after it stays where it is until the socket is readable once more, which may
/// be never. So where a buffer was full, a stream of the connection is made to read once more, until that brings nothing.
final class HeldInput {
    /// The size of libcurl's buffer for what a stream receives (`CURLOPT_BUFFERSIZE`).
    static let bufferSize = 16_384

    /// How often a connection is to be looked at.
    private var looks: [OpenSockets.Ends: Int] = [:] { didSet { isEmpty = false } }
    /// Those that were looked at last.
    private var seen: Set<OpenSockets.Ends> = []
    /// How many streams of a connection are paused: what they receive is not seen.
    private var paused: [OpenSockets.Ends: Int] = [:] { didSet { isEmpty = false } }
    /// Whether there is none to be looked at, and no stream paused: read alone, without a check for exclusivity.
    private var isEmpty = true
    /// When to look again at connections on which one stream is paused and another waits, on the loop's clock. At times input
    /// remains after all the looks that follow a read.
    private(set) var nextLook: MonotonicInstant?
    /// As many as all that libcurl reads at once can fill buffers of paused streams, and be lost to each of them.
    private static let looksBesidePaused = 4
    private static let pause = Duration.milliseconds(50)

    /// A stream received something.
    func received(at ends: OpenSockets.Ends, fillsBuffer: Bool) {
        if fillsBuffer || !isEmpty && seen.contains(ends) { look(at: ends) }
    }

    /// Has libcurl look at a connection once more.
    func look(at ends: OpenSockets.Ends) { looks[ends] = max(1, looks[ends] ?? 0) }

    /// A stream was paused, or is paused no longer.
    func paused(_ isPaused: Bool, at ends: OpenSockets.Ends) {
        let count = (paused[ends] ?? 0) + (isPaused ? 1 : -1)
        paused[ends] = count == 0 ? nil : count
        if paused.isEmpty { nextLook = nil }
    }

    /// A connection was read.
    func read(_ connection: @autoclosure () -> OpenSockets.Ends?) {
        guard !isEmpty, !paused.isEmpty, let ends = connection(), paused[ends] != nil else { return }
        looks[ends] = Self.looksBesidePaused
    }

    /// A stream waits on a connection. If another stream of it is paused, the connection is looked at again in 50 ms.
    func waits(at ends: OpenSockets.Ends, since now: @autoclosure () -> MonotonicInstant = .now) {
        guard !isEmpty, paused[ends] != nil else { return }
        nextLook = nextLook ?? now().after(Self.pause)
    }

    /// Whether input may be held on a connection.
    func isPossible(at ends: OpenSockets.Ends) -> Bool { looks[ends] != nil }

    /// Takes the connections that are to be looked at now.
    func next(now: @autoclosure () -> MonotonicInstant = .now) -> Set<OpenSockets.Ends> {
        if isEmpty { return [] }
        seen = Set(looks.keys)
        if let nextLook, nextLook <= now() {
            self.nextLook = nil
            seen.formUnion(paused.keys)
        }
        looks = looks.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        isEmpty = looks.isEmpty && seen.isEmpty && paused.isEmpty
        return seen
    }
}

extension HTTPHop {
    /// Whether the hop must have its connection to itself: when content without an announced length ends, libcurl before 8.1
    /// takes a connection's input apart although a stream has still to take what is its own, and mixes that up.
    var needsOwnConnection: Bool {
        guard CurlLibrary.shared.hasOldHTTP2, let source, source.length == nil else { return false }
        return switch version {
        case .http1_1: false
        case .automatic: isSecure
        case .http2PriorKnowledge: true
        }
    }
}
