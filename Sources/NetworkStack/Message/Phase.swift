extension HTTP {
    /// The phases of a fetch.
    @nonexhaustive
    public enum Phase: String, Hashable, Sendable, CaseIterable {
        /// The request is being made.
        case making
        /// The request waits for a connection.
        case queued
        /// The host's name is looked up.
        case resolving
        /// The connection is being opened.
        case connecting
        /// TLS is being negotiated.
        case securing
        /// The request is being sent.
        case sending
        /// The request was sent; the head of the final response has not arrived.
        case waiting
        /// The response is being received.
        case receiving
        /// The attempt is over, and interceptors judge its result.
        case settling
        /// The next attempt waits for its delay.
        case delayed
    }

    /// The timeouts of a fetch.
    @nonexhaustive
    public enum Timeout: String, Hashable, Sendable, CaseIterable {
        /// The wait for a connection.
        case queue
        /// Resolving the name, opening the connection and negotiating TLS.
        case connect
        /// From the last byte sent to the response's head.
        case firstByte
        /// Any period without progress in either direction.
        case idle
        /// One attempt of a fetch.
        case attempt
        /// The whole fetch, with all attempts and delays.
        case total
    }
}

extension HTTP.Phase {
    /// Whether there is no connection yet.
    var isConnecting: Bool { self == .resolving || self == .connecting || self == .securing }

    /// Whether no part of the request can have reached the server.
    package var isBeforeSending: Bool { self == .queued || isConnecting }
}
