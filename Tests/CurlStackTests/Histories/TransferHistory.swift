import CCurl
import FoundationEssentials
import NetworkStackTesting

@testable import CurlStack
@testable import NetworkStack

/// A transfer without libcurl: bytes and callbacks in random pieces, turns, pauses, new attempts, and one end.
final class TransferHistory: History {
    static let subject = "Transfer"
    private static let longest = 200

    let seed: UInt64
    var random: SeededRandom
    let transfer: Transfer
    private let sink: TransferHistorySink
    private let context: LoopContext
    private var queue = ConnectionQueue(limits: .init(), quirks: [])

    // The part of the response that libcurl has.
    private var response: HistoryResponse
    private var (lines, place, trailers) = (0, 0, 0)
    private var isAborted = false
    var sends = TransferHistorySends()
    private var isOver = false

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        sink = TransferHistorySink(seed: seed)
        context = LoopContext(quirks: random.chance(2) ? [] : .running)
        let limit = random.chance(2) ? 1 << 30 : Int64(random.number(below: 3000))
        let hop = try HTTPHop.ofHistory(bodyLimit: limit, allowsWithholding: random.chance(2))
        let control = TransferControl(hop: hop, sink: sink, mailbox: HTTPHop.mailbox)
        transfer = Transfer(control, hostQueue: queue.hostQueue(of: hop), context: context, at: .now)
        let proxy = TLSPeers.Peer(serverName: random.chance(2) ? "proxy" : nil, server: nil)
        transfer.tlsProxy = random.chance(2) ? proxy : nil
        response = HistoryResponse(&random)
    }

    func must(_ sentence: String, _ holds: Bool) throws(HistoryFault) {
        guard holds else { throw HistoryFault(seed: seed, subject: Self.subject, sentence) }
    }

    func run() throws -> Int {
        var steps = 0
        while !isOver, steps < Self.longest {
            steps += 1
            try step()
            if let fault = sink.now.fault { try must(fault, false) }
            try checkAttempt()
        }
        if !isOver { try end(with: CURLE_OPERATION_TIMEDOUT) }
        try checkSilence()
        context.end()
        return steps
    }

    private func step() throws {
        switch random.number(below: 20) {
        case 0: try opened()
        case 1: if !transfer.attempt.isConnected { try connected() }
        case 2:
            readDebugText()
            // Requests that the server did not process are sent again.
            if transfer.isExcludedByGoAway, !transfer.response.head.hasBegun, random.chance(2) { try startOver() }
        case 3: transfer.pauseSending(random.chance(2))
        case 4: transfer.resumeSending()
        case 5, 6: endTurn()
        case 7:
            if random.chance(3), sink.now.head == nil, transfer.response.final == nil { try startOver() }
        case 8:
            sink.resume()
            transfer.resumeReceiving()
        case 9 where random.chance(20): try end(with: random.pick(Self.failures) ?? CURLE_RECV_ERROR)
        case 9 where random.chance(20): if response.framing == .length { try end(with: CURLE_OK) }
        case 9 where random.chance(20): try giveUp()
        default: if transfer.attempt.isConnected || !random.chance(3) { try receive() } else { try connected() }
        }
    }

    private static let failures = [
        CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_OPERATION_TIMEDOUT,
    ]

    // MARK: The response

    private func receive() throws {
        guard transfer.attempt.isConnected, !transfer.response.isPaused else { return }
        if isAborted { return try end(with: CURLE_WRITE_ERROR) }
        if lines < response.head.count { return try receiveHead() }
        guard place < response.wire.count else {
            guard trailers < response.trailers.count else { return try end(with: CURLE_OK) }
            trailers += 1
            let line = response.trailers[trailers - 1]
            isAborted = !transfer.received(headerLine: line.span)
            return
        }
        let piece = Array(response.wire[place..<min(place + 1 + random.number(below: 500), response.wire.count)])
        switch transfer.received(piece.span.bytes) {
        case .taken: place += piece.count
        case .pause: try must("A transfer that pauses libcurl records it.", transfer.response.isPaused)
        case .abort: isAborted = true
        }
    }

    private func receiveHead() throws {
        let line = response.head[lines]
        if !transfer.response.head.hasField, random.chance(2) {
            let cut = random.number(below: line.count)
            for piece in [Array(line[..<cut]), Array(line[cut...])] where !piece.isEmpty {
                guard case .taken = transfer.received(piece.span.bytes) else {
                    return try must("A line of a head is read.", false)
                }
            }
        }
        lines += 1
        try must("A line of a head is read.", transfer.received(headerLine: line.span))
    }

    private func endTurn() {
        while let touched = context.nextTouched() { touched.flush() }
        context.renewBudgets()
        context.lookAgain(at: CollectionOfOne(transfer))
    }

    // MARK: Ends

    private func giveUp() throws {
        isOver = true
        transfer.giveUp(.shutDown)
        try checkVerdict(mayFinish: false)
    }

    private func end(with code: CURLcode) throws {
        isOver = true
        // A body that ends with a TLS connection needs close_notify, which no record of a history has.
        let isCutOff = response.framing == .close && transfer.attempt.tlsRecord != nil && transfer.attempt.stream == nil
        let isWhole = lines == response.head.count && place == response.wire.count
        transfer.finish(code)
        try checkVerdict(mayFinish: code == CURLE_OK && isWhole && !isCutOff && !isAborted)
        if case .failed(.bodyTooLarge) = sink.now.verdicts.first {
            let hop = transfer.control.hop
            let isTooLong = hop.allowsWithholding && response.content.count > hop.options.limits.body
            try must("A body within the limit does not fail.", isTooLong)
        }
    }

    private func checkVerdict(mayFinish: Bool) throws {
        let record = sink.now
        if let fault = record.fault { try must(fault, false) }
        try must("A transfer ends with one verdict.", record.verdicts.count == 1)
        try must("A body is delivered in order.", record.body.elementsEqual(response.content.prefix(record.body.count)))
        try must(
            "Informational heads are reported in order.",
            response.informational.starts(with: record.informational)
        )
        if case .finished = record.verdicts.first {
            try must("A transfer that is cut off fails.", mayFinish)
            try must("A body is delivered to its end.", record.body.count == response.content.count)
            try must("Every informational head is reported.", response.informational == record.informational)
            try must("Trailers are reported.", (record.trailers?.count ?? 0) == (response.trailers.isEmpty ? 0 : 1))
        } else {
            try must("A transfer that is whole succeeds.", !mayFinish)
        }
    }

    /// Events that may still come for a transfer that has ended.
    private func checkSilence() throws {
        transfer.resumeReceiving()
        transfer.touch()
        transfer.flush()
        endTurn()
        try must("Nothing is reported after the end.", sink.now.fault == nil && sink.now.verdicts.count == 1)
    }

    // MARK: Starting over

    private func startOver() throws {
        let (proxy, record) = (transfer.tlsProxy, sink.now)
        let wasUnprocessed = transfer.isKnownUnprocessed && transfer.attempt.isConnected
        sends.startOver(hasAnswer: transfer.response.head.hasBegun, wasUnprocessed: wasUnprocessed)
        try must(
            "Informational heads are reported in order.",
            response.informational.starts(with: record.informational)
        )
        sink.startOver()
        transfer.startOver()
        let (attempt, reader) = (transfer.attempt, transfer.response)
        try must("Starting over clears the TLS record.", attempt.tlsRecord == nil)
        try must("Starting over clears the handshakes.", attempt.handshakes == 0)
        try must("Starting over clears the server's pins.", attempt.serverPins == nil)
        try must("Starting over clears the connection.", attempt.connection == nil && !attempt.isConnected)
        try must("Starting over clears the stream.", attempt.stream == nil && !attempt.speaksHTTP2)
        try must("Starting over clears the sockets.", attempt.openedSockets.isEmpty && attempt.restart == nil)
        let knowsProxy = transfer.tlsProxy?.serverName == proxy?.serverName
        try must(
            "Starting over keeps the server name of the proxy.",
            knowsProxy && (proxy == nil) == (transfer.tlsProxy == nil)
        )
        try must("Starting over forgets what was reported.", reader.reported == (0, 0))
        try must("Starting over forgets the head.", !reader.head.hasBegun && reader.informational.isEmpty)
        try must("Starting over ends pauses.", !reader.isPaused && !reader.isHeldBack && !transfer.request.isPaused)
        (lines, place, trailers, isAborted) = (0, 0, 0, false)
        sends.goAway = nil
    }

    /// A connection is ready, and the request is sent on it.
    private func connected() throws {
        let overHTTP2 = random.chance(3)
        response = HistoryResponse(&random, overHTTP2: overHTTP2)
        let isSecure = random.chance(2)
        if isSecure {
            transfer.attempt.tlsRecord = TLSRecord(peers: transfer.peers, proxy: nil, budget: context.readBudget())
            transfer.attempt.serverPins = ([], nil)
        }
        let endpoints = EndpointPair(number: UInt32(random.number(below: 1000)), slot: 0)
        // No descriptor of this process.
        let connection = Connection(endpoints, descriptor: 1 << 30, tlsRecord: transfer.attempt.tlsRecord)
        for _ in 0..<random.number(below: 2) { _ = connection.openStream() }
        transfer.attempt.openedSockets = []
        transfer.attempt.connection = connection
        transfer.attempt.isReused = random.chance(2)
        transfer.attempt.speaksHTTP2 = overHTTP2
        transfer.attempt.stream = overHTTP2 ? connection.openStream() : nil
        transfer.attempt.isConnected = true
        transfer.sends.noteSend(wasUnprocessed: false, after: 0)
        sends.sent()
        transfer.entered(.waiting, on: connection)
        try must("A new connection is not one that libcurl abandoned.", !transfer.attempt.isBetweenConnections)
    }
}
