internal import NetworkStack

/// The connections of HTTP/2 on which libcurl may hold input that it has read and not dealt with.
///
/// Where a stream's buffer was full, a stream of the connection is made to read once more, until that brings nothing
/// (``LibcurlQuirks/heldHTTP2Input``). Where the last input may have been a fault, a stream is made to read once more when nothing has
/// come for 50 ms (``LibcurlQuirks/unreadHTTP2Fault``).
final class BufferedHTTP2Input {
    /// The size of libcurl's buffer for what a stream receives (`CURLOPT_BUFFERSIZE`).
    static let bufferSize = 16_384

    /// Those of which something is noted.
    private var connections: [Connection] = []
    /// When to look again at connections on which one stream is paused and another waits, on the loop's clock. At times input
    /// remains after all the looks that follow a read.
    private(set) var nextLook: MonotonicTime?
    /// As many as all that libcurl reads at once can fill buffers of paused streams, and be lost to each of them.
    private static let looksBesidePaused = 4
    private static let pause = Duration.milliseconds(50)
    /// When to look for connections on which nothing has come for so long, on the loop's clock.
    private(set) var nextLookForFaults: MonotonicTime?

    /// A stream received something.
    func received(on connection: Connection, fillsBuffer: Bool) {
        if fillsBuffer || connection.input.wasLookedAt { look(at: connection) }
    }

    /// Has libcurl look at a connection once more.
    func look(at connection: Connection) { note(connection) { $0.looks = max(1, $0.looks) } }

    /// A stream was paused, or is paused no longer.
    func paused(_ isPaused: Bool, on connection: Connection) {
        note(connection) { $0.pausedStreams += isPaused ? 1 : -1 }
        if !connections.contains(where: { $0.input.pausedStreams > 0 }) { nextLook = nil }
    }

    /// A connection was read.
    func read(_ connection: Connection) {
        guard connection.input.pausedStreams > 0 else { return }
        note(connection) { $0.looks = Self.looksBesidePaused }
    }

    /// A stream waits on a connection. If another stream of it is paused, the connection is looked at again in 50 ms.
    func waits(on connection: Connection, since now: @autoclosure () -> MonotonicTime = .now) {
        guard connection.input.pausedStreams > 0 else { return }
        nextLook = nextLook ?? now() + Self.pause
    }

    /// libcurl may have read a connection. The last bytes that it read may be a fault that it has not noticed.
    func mayHideFault(on connection: Connection, at now: MonotonicTime = .now) {
        connection.input.lastRead = now
        nextLookForFaults = nextLookForFaults ?? now + Self.pause
    }

    /// Whether the time for a look has come: ``isQuiet(_:at:)`` is asked about every connection then.
    func beginLookForFaults(at now: @autoclosure () -> MonotonicTime = .now) -> Bool {
        guard let nextLookForFaults, nextLookForFaults <= now() else { return false }
        self.nextLookForFaults = nil
        return true
    }

    /// Whether a connection was read, and nothing has arrived on it for 50 ms since. Returns `true` once for each such read.
    func isQuiet(_ connection: Connection, at now: MonotonicTime) -> Bool {
        guard let lastRead = connection.input.lastRead else { return false }
        guard lastRead + Self.pause <= now else {
            nextLookForFaults = nextLookForFaults ?? now + Self.pause
            return false
        }
        connection.input.lastRead = nil
        return true
    }

    /// Whether input may be held on a connection.
    func isPossible(on connection: Connection) -> Bool { connection.input.looks > 0 }

    /// Takes the connections that are to be looked at now.
    func next(now: @autoclosure () -> MonotonicTime = .now) -> [Connection] {
        if connections.isEmpty { return [] }
        var isDue = false
        if let nextLook, nextLook <= now() { (self.nextLook, isDue) = (nil, true) }
        for connection in connections {
            connection.input.wasLookedAt = connection.input.looks > 0 || isDue && connection.input.pausedStreams > 0
            connection.input.looks = max(0, connection.input.looks - 1)
        }
        connections.removeAll { !$0.input.isNeeded }
        return connections.filter(\.input.wasLookedAt)
    }

    private func note(_ connection: Connection, _ change: (inout Connection.BufferedInput) -> Void) {
        if !connections.contains(where: { $0 === connection }) { connections.append(connection) }
        change(&connection.input)
    }
}
