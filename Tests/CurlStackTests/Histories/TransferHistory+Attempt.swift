import NetworkStackTesting

@testable import CurlStack
@testable import NetworkStack

/// How often a request was sent, counted beside ``SendHistory``.
struct TransferHistorySends {
    private(set) var (all, unanswered) = (0, 0)
    /// The last stream that the server processes, by its latest GOAWAY.
    var goAway: UInt32?

    mutating func sent() {
        all += 1
        unanswered += 1
    }

    mutating func startOver(hasAnswer: Bool, wasUnprocessed: Bool) {
        if hasAnswer { unanswered = 0 } else if wasUnprocessed { unanswered -= 1 }
    }
}

extension TransferHistory {
    /// A socket was opened, and may have been followed by handshakes: the proxy's, and the server's.
    func opened() throws {
        guard !transfer.attempt.isConnected else { return }
        let count = transfer.attempt.openedSockets.count
        try must("A transfer may connect.", transfer.opened(Int32(100 + count)))
        try must("A new socket has no handshakes.", transfer.attempt.handshakes == 0)
        try must("Every socket is kept.", transfer.attempt.openedSockets.count == count + 1)
        transfer.attempt.handshakes = random.number(below: 3)
    }

    /// libcurl's verbose text: it looks for another connection, or the server has sent GOAWAY.
    func readDebugText() {
        guard transfer.attempt.connection != nil else { return }
        let last = UInt32(random.number(below: 4))
        let text =
            random.chance(3)
            ? "REFUSED_STREAM, retrying a fresh connect (retry count: 1)\n"
            : "received GOAWAY, error=0, last_stream=\(last)\n"
        let isBetween = transfer.attempt.isBetweenConnections
        transfer.read(debugText: Array(text.utf8).span)
        if text.hasPrefix("received"), !isBetween { sends.goAway = last }
    }

    func checkAttempt() throws {
        let attempt = transfer.attempt
        try must("A GOAWAY counts for the connection in use.", attempt.connection?.lastStream == sends.goAway)
        let isUnprocessed = attempt.stream.flatMap { stream in sends.goAway.map { $0 < stream } } ?? false
        try must(
            "A stream after the last one of a GOAWAY was not processed.",
            transfer.isExcludedByGoAway == isUnprocessed
        )
        try must("Every send is counted.", (transfer.sends.resends ?? -1) + 1 == sends.all)
        try must("Sends without an answer are counted.", transfer.sends.unanswered == sends.unanswered)
        try must("No more sends are unanswered than there were.", 0...max(0, sends.all) ~= transfer.sends.unanswered)
    }
}
