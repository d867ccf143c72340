extension ScriptedServer {
    /// What the server does on one connection, in order.
    ///
    /// When the steps are used up, it closes in an orderly way.
    public typealias Script = [Step]

    /// One thing the server does on a connection.
    public struct Step: Sendable, CustomStringConvertible {
        /// What the step does, in words; appears in a connection record when the step failed.
        public let description: String
        let perform: @Sendable (Connection) throws -> Void

        init(_ description: String, _ perform: @escaping @Sendable (Connection) throws -> Void) {
            self.description = description
            self.perform = perform
        }
    }
}

extension ScriptedServer.Step {
    /// Reads up to the blank line after a request's head and records the request.
    public static var receiveHead: Self { .init("receive head") { _ = try $0.receiveHead() } }

    /// Reads the body of the request received last, by its Content-Length or chunked coding.
    public static var receiveBody: Self { .init("receive body") { _ = try $0.receiveBody() } }

    /// Reads a whole request: head, then body.
    public static var receiveRequest: Self {
        .init("receive request") {
            try $0.receiveHead()
            try $0.receiveBody()
        }
    }

    /// Reads exactly `count` bytes.
    public static func receive(_ count: Int) -> Self { .init("receive \(count) bytes") { _ = try $0.receive(count) } }

    /// Sends the text's UTF-8 bytes.
    public static func send(_ text: String) -> Self { .send(Array(text.utf8)) }

    /// Sends the bytes.
    public static func send(_ bytes: [UInt8]) -> Self { .init("send \(bytes.count) bytes") { try $0.send(bytes) } }

    /// Sends the bytes under TLS, as they are: a peer that speaks it reads them as a record of its own.
    public static func sendBelowTLS(_ bytes: [UInt8]) -> Self {
        .init("send \(bytes.count) bytes below TLS") { try $0.sendBelowTLS(bytes) }
    }

    /// Sends `count` bytes of `BytePattern` in pieces, without ever holding them all.
    public static func sendPattern(_ count: Int) -> Self {
        .init("send \(count) pattern bytes") { connection in
            let piece = BytePattern.wholePeriods
            var left = count
            while left > 0 {
                try connection.send(left >= piece.count ? piece : Array(piece[..<left]))
                left -= piece.count
            }
        }
    }

    /// Sends the text one byte at a time with `interval` between two bytes.
    public static func drip(_ text: String, every interval: Duration) -> Self {
        .drip(Array(text.utf8), every: interval)
    }

    /// Sends the bytes one at a time with `interval` between two bytes.
    public static func drip(_ bytes: [UInt8], every interval: Duration) -> Self {
        .init("drip \(bytes.count) bytes every \(interval)") { connection in
            for (offset, byte) in bytes.enumerated() {
                if offset > 0 { try connection.pause(interval) }
                try connection.send([byte])
            }
        }
    }

    /// Does nothing for a while, but notices when the peer closes.
    public static func pause(_ duration: Duration) -> Self { .init("pause \(duration)") { try $0.pause(duration) } }

    /// Waits until the test opens the gate; notices when the peer closes meanwhile.
    ///
    /// Bounded by the options' patience.
    public static func wait(for gate: Gate) -> Self { .init("wait for a gate") { try $0.wait(for: gate) } }

    /// Opens the gate, to tell the test that the script has come this far.
    public static func open(_ gate: Gate) -> Self { .init("open a gate") { _ in gate.open() } }

    /// Reads on until the peer closes, for at most 30 s, and records how and when.
    public static var waitForClose: Self { .init("wait for close") { try $0.waitForClose() } }

    /// Ends the connection in an orderly way: close_notify under TLS, FIN, then whatever still arrives is read away so
    /// that the kernel does not turn the close into a reset.
    public static var close: Self { .init("close") { try $0.close() } }

    /// Ends the connection with a reset (RST).
    public static var reset: Self { .init("reset") { try $0.reset() } }

    /// Ends the sending half (close_notify under TLS, then FIN); the script goes on receiving.
    public static var shutdownWrite: Self { .init("shut down writing") { try $0.shutdownWrite() } }

    /// Ends a TLS connection like an attacker would: FIN without close_notify.
    ///
    /// Without TLS the same as `close`.
    public static var closeWithoutNotify: Self { .init("close without notify") { try $0.closeWithoutNotify() } }

    /// Runs `body` on the connection's thread.
    ///
    /// What it throws ends the script and is recorded.
    public static func run(_ body: @escaping @Sendable (ScriptedServer.Connection) throws -> Void) -> Self {
        .init("run", body)
    }

    /// Runs the steps again and again until the connection ends.
    public static func `repeat`(_ steps: [Self]) -> Self {
        .init("repeat") { connection in
            while true {
                for step in steps { try step.perform(connection) }
            }
        }
    }
}
