public import FoundationEssentials
public import NetworkStack

/// What a ``MockNetworkStack`` answers a request with.
public struct MockReply: Sendable {
    enum Outcome {
        case response(status: HTTP.StatusCode, headers: HTTP.Headers, content: Data)
        case failure(any Error)
        case silence
    }

    let outcome: Outcome
    /// How long the answer takes, on the stack's clock.
    public var delay: Duration = .zero
    /// What the transfer fails with once the content has come, if it is cut off.
    var cut: MockFailure?

    /// A response.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - content: The content.
    /// - Returns: The reply.
    public static func status(
        _ status: HTTP.StatusCode,
        headers: HTTP.Headers = [:],
        content: Data = Data()
    ) -> MockReply {
        MockReply(outcome: .response(status: status, headers: headers, content: content))
    }

    /// JSON.
    ///
    /// - Parameters:
    ///   - text: The JSON.
    ///   - status: The status.
    /// - Returns: The reply.
    public static func json(_ text: String, status: HTTP.StatusCode = .ok) -> MockReply {
        .status(status, headers: [.contentType: "application/json"], content: Data(text.utf8))
    }

    /// A model as JSON.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - status: The status.
    ///   - encoder: Encodes the model.
    /// - Returns: The reply.
    /// - Throws: What the encoder throws.
    public static func json(
        encoding model: some Encodable,
        status: HTTP.StatusCode = .ok,
        encoder: JSONEncoder = JSONEncoder()
    ) throws -> MockReply {
        .status(status, headers: [.contentType: "application/json"], content: try encoder.encode(model))
    }

    /// A failed transfer.
    ///
    /// - Parameter error: What a backend would fail with; it arrives as `transport`. An `HTTPTransferFailure<any Error>`
    ///   arrives as what it is.
    /// - Returns: The reply.
    public static func failure(_ error: any Error) -> MockReply { MockReply(outcome: .failure(error)) }

    /// A failed transfer of a kind, for what judges failures, such as a retry policy.
    ///
    /// - Parameters:
    ///   - kind: What went wrong.
    ///   - phase: Where in its life the transfer was.
    /// - Returns: The reply.
    public static func failure(_ kind: HTTP.FailureKind, during phase: HTTP.Phase = .receiving) -> MockReply {
        .failure(MockFailure(kind: kind, phase: phase))
    }

    /// Nothing, ever: for cancels and timeouts.
    public static var silence: MockReply { MockReply(outcome: .silence) }

    /// The same response, cut off behind its content: for streams and downloads, and what begins again where they ended.
    ///
    /// - Parameter kind: What went wrong.
    /// - Returns: The reply, which makes no difference to a failure or to silence.
    public func cut(by kind: HTTP.FailureKind = .truncated) -> MockReply {
        var copy = self
        copy.cut = MockFailure(kind: kind, phase: .receiving)
        return copy
    }

    /// The same reply after a while.
    ///
    /// - Parameter delay: How long it takes, on the stack's clock.
    /// - Returns: The delayed reply.
    public func delayed(by delay: Duration) -> MockReply {
        var copy = self
        copy.delay = delay
        return copy
    }
}

/// A transfer that failed as a test wanted it to.
public struct MockFailure: HTTPTransportError, Hashable {
    /// What went wrong.
    public let kind: HTTP.FailureKind
    /// Where in its life the transfer was, if known.
    public let phase: HTTP.Phase?

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - kind: What went wrong.
    ///   - phase: Where in its life the transfer was, if known.
    public init(kind: HTTP.FailureKind, phase: HTTP.Phase? = nil) {
        self.kind = kind
        self.phase = phase
    }
}
