import NetworkStack

/// The server's records, written by its threads and read by tests at any time.
final class Ledger: Sendable {
    private struct State {
        var snapshot = Snapshot()
        var open = 0
        var version = 0
    }
    private let state = Lock(State())
    private let recordLimit: Int

    init(recordLimit: Int) { self.recordLimit = recordLimit }

    var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// The snapshot, if it has changed since `version`, so that a waiting test checks only changes.
    func snapshot(after version: inout Int) -> Snapshot? {
        state.withLock { state in
            guard state.version != version else { return nil }
            version = state.version
            return state.snapshot
        }
    }

    /// Opens a record and returns its index.
    func accepted(peer: String, handshake: ConnectionRecord.Handshake) -> Int {
        state.withLock { state in
            let index = state.snapshot.connections.count
            state.snapshot.connections.append(ConnectionRecord(index: index, peer: peer, handshake: handshake))
            state.snapshot.held += 1
            state.open += 1
            state.snapshot.maxOpen = max(state.snapshot.maxOpen, state.open)
            state.version += 1
            return index
        }
    }

    func change(_ index: Int, _ body: (inout ConnectionRecord) -> Void) {
        state.withLock { state in
            let wasOpen = state.snapshot.connections[index].state == .open
            body(&state.snapshot.connections[index])
            if wasOpen, state.snapshot.connections[index].state != .open { state.open -= 1 }
            state.version += 1
        }
    }

    func received(_ bytes: UnsafeRawBufferPointer, on index: Int) {
        change(index) { record in
            let room = max(0, recordLimit - record.received.count)
            // Rebased, because a debug build copies a slice byte by byte.
            record.received.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.prefix(room)))
            record.receivedCount += bytes.count
        }
    }

    /// Records a request and returns its position in the order of arrival.
    func arrived(_ request: ReceivedRequest) -> Int {
        state.withLock { state in
            state.snapshot.requests.append(request)
            state.snapshot.connections[request.connectionIndex].requests.append(request)
            state.version += 1
            return state.snapshot.requests.count - 1
        }
    }

    /// Replaces a request after a part of its body, or all of it, has arrived.
    func update(_ request: ReceivedRequest, at place: Int) {
        state.withLock { state in
            state.snapshot.requests[place] = request
            state.snapshot.connections[request.connectionIndex].requests[request.indexOnConnection] = request
            state.version += 1
        }
    }

    /// The server has closed the connection's socket.
    func released(_ index: Int) {
        change(index) { $0.end(.closedByServer) }
        state.withLock { state in
            state.snapshot.held -= 1
            state.version += 1
        }
    }
}
