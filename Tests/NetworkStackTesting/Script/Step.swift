extension ScriptedServer {
    /// The steps of the server on one connection, in order. After the last step it closes the connection in an orderly way.
    public typealias Script = [Step]

    /// One step of the server on a connection.
    public struct Step: Sendable, CustomStringConvertible {
        /// A description of the step, which appears in the record of a connection whose step failed.
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

    /// Reads the body of the last request, by its Content-Length or chunked coding.
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

    /// Sends the bytes below TLS: the client reads them as a TLS record.
    public static func sendBelowTLS(_ bytes: [UInt8]) -> Self {
        .init("send \(bytes.count) bytes below TLS") { try $0.sendBelowTLS(bytes) }
    }

    /// Sends `count` bytes of `BytePattern` in chunks, without holding all of them in memory.
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

    /// Sends the text one byte at a time, with `interval` between bytes.
    public static func drip(_ text: String, every interval: Duration) -> Self {
        .drip(Array(text.utf8), every: interval)
    }

    /// Sends the bytes one at a time, with `interval` between them.
    public static func drip(_ bytes: [UInt8], every interval: Duration) -> Self {
        .init("drip \(bytes.count) bytes every \(interval)") { connection in
            for (offset, byte) in bytes.enumerated() {
                if offset > 0 { try connection.pause(interval) }
                try connection.send([byte])
            }
        }
    }

    /// Waits, but notices if the peer closes.
    public static func pause(_ duration: Duration) -> Self { .init("pause \(duration)") { try $0.pause(duration) } }

    /// Waits until the test opens the gate, for at most the options' patience; notices if the peer closes meanwhile.
    public static func wait(for gate: Gate) -> Self { .init("wait for a gate") { try $0.wait(for: gate) } }

    /// Opens the gate, to show the test that the script has reached this step.
    public static func open(_ gate: Gate) -> Self { .init("open a gate") { _ in gate.open() } }

    /// Reads until the peer closes, for at most 30 s, and records how and when.
    public static var waitForClose: Self { .init("wait for close") { try $0.waitForClose() } }

    /// Closes the connection in an orderly way: close_notify under TLS, FIN, then discards what still arrives, so that the kernel
    /// does not send a reset.
    public static var close: Self { .init("close") { try $0.close() } }

    /// Ends the connection with a reset (RST).
    public static var reset: Self { .init("reset") { try $0.reset() } }

    /// Closes the sending half (close_notify under TLS, then FIN); the script can still receive.
    public static var shutdownWrite: Self { .init("shut down writing") { try $0.shutdownWrite() } }

    /// Ends a TLS connection without close_notify, as an attacker would. Without TLS it is the same as `close`.
    public static var closeWithoutNotify: Self { .init("close without notify") { try $0.closeWithoutNotify() } }

    /// Runs `body` on the connection's thread. Its error ends the script and is recorded.
    public static func run(_ body: @escaping @Sendable (ScriptedServer.Connection) throws -> Void) -> Self {
        .init("run", body)
    }

    /// Repeats the steps until the connection ends.
    public static func `repeat`(_ steps: [Self]) -> Self {
        .init("repeat") { connection in
            while true {
                for step in steps { try step.perform(connection) }
            }
        }
    }
}
