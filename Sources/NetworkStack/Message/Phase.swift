extension HTTP {
    /// Where in its life a fetch is.
    @nonexhaustive
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        /// The request is being made.
        case making
        /// The request waits for a place among the connections.
        case queued
        /// The host's name is looked up.
        case resolving
        /// The connection is being opened.
        case connecting
        /// TLS is being negotiated.
        case securing
        /// The request is being sent.
        case sending
        /// The request was sent; nothing of the response's head has come.
        case waiting
        /// The response is being received.
        case receiving
        /// The attempt is over, and interceptors look at what came of it.
        case settling
        /// The next attempt waits for its delay.
        case delayed
    }

    /// A clock that can end a fetch.
    @nonexhaustive
    public enum Timeout: String, Hashable, Sendable, CaseIterable {
        /// The wait for a place among the connections.
        case queue
        /// Looking up the name, opening the connection and negotiating TLS.
        case connect
        /// From the last byte sent to the response's head.
        case firstByte
        /// Any stretch of time without progress in either direction.
        case idle
        /// One attempt of a fetch that may be tried again.
        case attempt
        /// The whole fetch.
        case total
    }
}

extension HTTP.Phase {
    /// Whether there is no connection yet.
    var isConnecting: Bool { self == .resolving || self == .connecting || self == .securing }

    /// Whether nothing of the request can have reached the server.
    package var isBeforeSending: Bool { self == .queued || isConnecting }
}
