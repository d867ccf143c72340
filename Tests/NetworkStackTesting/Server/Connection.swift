import Glibc
import NetworkStack

extension ScriptedServer {
    /// One accepted connection, for its script.
    ///
    /// It is not Sendable: only the connection's thread may use it.
    ///
    /// Every call throws `Interruption` if the connection or the server has ended, or the patience is exhausted.
    public final class Connection {
        /// The position in the order of acceptance, from 0.
        public let index: Int
        let channel: any ByteChannel
        let ledger: Ledger
        let options: Options
        var buffer: [UInt8] = []
        var currentRequest: (request: ReceivedRequest, place: Int)?
        var requestCount = 0
        private let descriptor: Int32
        private let wakeup: Wakeup
        private let stopGate: Gate
        /// Linux's POLLRDHUP, which Swift's Glibc lacks: the peer has sent FIN.
        private static let peerHangUp: Int16 = 0x2000
        private var isClosed = false
        private var isPeerEndSeen = false

        init(index: Int, descriptor: Int32, channel: any ByteChannel, listener: Listener, wakeup: Wakeup) {
            self.index = index
            self.descriptor = descriptor
            self.channel = channel
            ledger = listener.ledger
            options = listener.options
            stopGate = listener.stopGate
            self.wakeup = wakeup
        }

        // MARK: Sending and waiting

        /// Sends all bytes; returns once the kernel has accepted them.
        public func send(_ bytes: [UInt8]) throws {
            try bytes.withUnsafeBytes { bytes in
                var left = bytes[...]
                while !left.isEmpty {
                    try checkOpen()
                    switch channel.write(UnsafeRawBufferPointer(rebasing: left)) {
                    case .moved(let count):
                        left = left.dropFirst(count)
                        ledger.change(index) { $0.sentCount += count }
                    case let outcome: try wait(after: outcome, "for room to send")
                    }
                }
            }
        }

        /// Sends the text's UTF-8 bytes.
        public func send(_ text: String) throws { try send(Array(text.utf8)) }

        /// Waits for `duration`, but notices and records if the peer closes meanwhile. A reset ends the script.
        public func pause(_ duration: Duration) throws {
            let deadline = ContinuousClock.now + duration
            while ContinuousClock.now < deadline { try wait(for: 0, until: deadline) }
        }

        /// Waits until the gate is open, for at most the options' patience; notices if the peer closes meanwhile.
        public func wait(for gate: Gate) throws {
            gate.register(wakeup)
            defer { gate.unregister(wakeup) }
            let deadline = ContinuousClock.now + options.patience
            while !gate.isOpen {
                guard ContinuousClock.now < deadline else { throw Interruption.timedOut("waiting for a gate") }
                try wait(for: 0, until: deadline)
            }
        }

        /// Asks a TLS 1.2 client for another handshake with another identity, which takes place while bytes are read.
        public func renegotiate(as identity: TLSIdentity) throws {
            try checkOpen()
            try (channel as? TLSChannel)?.renegotiate(as: identity)
        }

        // MARK: Ending

        /// Closes in an orderly way: close_notify under TLS, FIN, then discards what still arrives, for at most 1 s of silence or
        /// 10 s in total. Closing with unread bytes would send a reset instead.
        public func close() throws {
            try shutdownWrite()
            drain()
            finish()
        }

        /// FIN without close_notify, then as `close`.
        public func closeWithoutNotify() throws {
            try checkOpen()
            ledger.change(index) { $0.end(.closedByServer) }
            shutdown(descriptor, Int32(SHUT_WR))
            drain()
            finish()
        }

        /// Makes TLS 1.3 session tickets, and then sends them as fast as they are accepted.
        ///
        /// - Parameters:
        ///   - count: How many.
        ///   - ready: Called before the first one is sent.
        /// - Throws: The error of TLS or of the socket.
        public func sendTickets(_ count: Int, ready: () -> Void) throws {
            try checkOpen()
            let bytes = try (channel as? TLSChannel)?.makeTickets(count) ?? []
            ready()
            try sendAllBelowTLS(bytes)
        }

        /// Makes TLS records with the same bytes, and then sends them as fast as they are accepted.
        ///
        /// - Parameters:
        ///   - count: How many records.
        ///   - bytes: The contents of each.
        ///   - ready: Called before the first one is sent.
        /// - Throws: The error of TLS or of the socket.
        public func sendRecords(_ count: Int, of bytes: [UInt8], ready: () -> Void) throws {
            try checkOpen()
            let bytes = try (channel as? TLSChannel)?.makeRecords(count, of: bytes) ?? []
            ready()
            try sendAllBelowTLS(bytes)
        }

        private func sendAllBelowTLS(_ bytes: [UInt8]) throws {
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { bytes in
                    Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 || errno == EAGAIN else { throw SystemCallError("send", code: errno) }
                if sent > 0 { rest = rest.dropFirst(sent) } else { try pause(.milliseconds(1)) }
            }
        }

        /// Sends bytes below TLS. They must fit into the socket's buffer.
        public func sendBelowTLS(_ bytes: [UInt8]) throws {
            try checkOpen()
            let sent = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            guard sent == bytes.count else { throw SystemCallError("send", code: errno) }
        }

        /// Ends with a reset.
        public func reset() throws {
            try checkOpen()
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            finish()
        }

        /// Closes the sending half: close_notify under TLS, then FIN. Receiving is still possible.
        public func shutdownWrite() throws {
            try checkOpen()
            ledger.change(index) { $0.end(.closedByServer) }
            channel.notifyClose()
            shutdown(descriptor, Int32(SHUT_WR))
        }

        /// Closes the descriptor. It is the last call for this connection.
        func finish() {
            guard !isClosed else { return }
            isClosed = true
            Glibc.close(descriptor)
            ledger.released(index)
        }

        private func drain() {
            var scratch = [UInt8](repeating: 0, count: 65_536)
            let end = ContinuousClock.now + .seconds(10)
            while ContinuousClock.now < end {
                let count = recv(descriptor, &scratch, scratch.count, 0)
                if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { return }
                if count > 0 { continue }
                let deadline = min(end, .now + .seconds(1))
                guard (try? wait(for: Int16(POLLIN), until: deadline)) == true else { return }
            }
        }

        // MARK: The descriptor

        func handshake() throws {
            let deadline = ContinuousClock.now + options.patience
            while true {
                switch channel.handshake() {
                case .moved:
                    return ledger.change(index) { record in
                        guard let agreed = channel.agreed else { return }
                        record.handshake = .done
                        record.tls = agreed
                    }
                case .failed(let reason):
                    // Bytes that the client has sent would turn the close into a reset, which would overtake the alert.
                    shutdown(descriptor, Int32(SHUT_WR))
                    drain()
                    throw Interruption.failed(reason)
                case let outcome: try wait(after: outcome, "for the TLS handshake", until: deadline)
                }
            }
        }

        /// Reads the available bytes into the buffer; waits for the first one.
        func fill(until deadline: ContinuousClock.Instant? = nil) throws {
            try withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { scratch in
                while true {
                    try checkOpen()
                    switch channel.read(into: scratch) {
                    case .moved(let count):
                        let bytes = UnsafeRawBufferPointer(rebasing: scratch[..<count])
                        ledger.received(bytes, on: index)
                        buffer.append(contentsOf: bytes)
                        return
                    case let outcome: try wait(after: outcome, "for bytes of the peer", until: deadline)
                    }
                }
            }
        }

        func checkOpen() throws {
            if isClosed { throw Interruption.closedByScript }
            if stopGate.isOpen { throw Interruption.stopped }
        }

        private func wait(
            after outcome: ChannelOutcome,
            _ what: String,
            until deadline: ContinuousClock.Instant? = nil
        ) throws {
            switch outcome {
            case .moved: return
            case .blocked(let events):
                let deadline = deadline ?? .now + options.patience
                guard try wait(for: events, until: deadline) else {
                    throw Interruption.timedOut("waiting \(what)")
                }
            case .ended:
                noteEnd(.closedByPeer, "the peer closed during the handshake")
                throw Interruption.closedByPeer
            case .reset:
                noteEnd(.resetByPeer, "the peer reset during the handshake")
                throw Interruption.resetByPeer
            case .refused(let alert):
                noteEnd(.closedByPeer, alert)
                throw Interruption.failed(alert)
            case .failed(let reason): throw Interruption.failed(reason)
            }
        }

        /// Changes the record once, so that the end and the result of the handshake appear together.
        private func noteEnd(_ verdict: ConnectionRecord.State, _ handshakeFailure: String) {
            let isNotified = channel.isCloseNotifySeen
            ledger.change(index) { record in
                record.isCloseNotifySeen = isNotified
                if record.handshake == .pending, options.answersHandshake {
                    record.handshake = .failed(handshakeFailure)
                }
                record.end(verdict)
            }
        }

        /// Blocks until one of the events, a wakeup, or the deadline; returns `false` only at the deadline.
        ///
        /// While nothing is read, the peer's FIN would not be noticed, so it is polled for. Once noted it is not, because it
        /// would spin. A reader finds it after the bytes.
        @discardableResult
        private func wait(for events: Int16, until deadline: ContinuousClock.Instant) throws -> Bool {
            try checkOpen()
            let left = deadline - .now
            guard left > .zero else { return false }
            let isReading = events & Int16(POLLIN) != 0
            let watched = events == 0 && isPeerEndSeen ? -1 : descriptor
            var entries = [
                pollfd(fd: watched, events: isReading || isPeerEndSeen ? events : events | Self.peerHangUp, revents: 0),
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // Rounded up: a pause is never shorter than requested.
            let count = poll(&entries, 2, Int32(clamping: Int64(left.bounded / .milliseconds(1)) + 1))
            if count < 0 { return errno == EINTR ? true : false }
            if entries[1].revents != 0 { wakeup.drain() }
            let seen = entries[0].revents
            let isReset = seen & Int16(POLLERR) != 0
            if isReset || seen & (Int16(POLLHUP) | Self.peerHangUp) != 0, !isPeerEndSeen, !isReading {
                isPeerEndSeen = true
                ledger.change(index) { $0.end(isReset ? .resetByPeer : .closedByPeer) }
            }
            try checkOpen()
            if isReset, events == 0 { throw Interruption.resetByPeer }
            return count > 0
        }
    }
}
