public import FoundationEssentials
public import NetworkStack

/// The answer of a ``MockNetworkStack`` to a request.
public struct MockReply: Sendable {
    enum Outcome {
        case response(status: HTTP.StatusCode, headers: HTTP.Headers, body: Data)
        case failure(any Error)
        case silence
    }

    let outcome: Outcome
    /// How long the answer takes, on the stack's clock.
    public var delay: Duration = .zero
    /// The failure after the body, if the transfer is cut off.
    var cut: MockFailure?

    /// A response.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - headers: The header fields.
    ///   - body: The body.
    /// - Returns: The reply.
    public static func status(
        _ status: HTTP.StatusCode,
        headers: HTTP.Headers = [:],
        body: Data = Data()
    ) -> MockReply {
        MockReply(outcome: .response(status: status, headers: headers, body: body))
    }

    /// JSON.
    ///
    /// - Parameters:
    ///   - text: The JSON.
    ///   - status: The status.
    /// - Returns: The reply.
    public static func json(_ text: String, status: HTTP.StatusCode = .ok) -> MockReply {
        .status(status, headers: [.contentType: "application/json"], body: Data(text.utf8))
    }

    /// A model as JSON.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - status: The status.
    ///   - encoder: Encodes the model.
    /// - Returns: The reply.
    /// - Throws: The encoder's error.
    public static func json(
        encoding model: some Encodable,
        status: HTTP.StatusCode = .ok,
        encoder: JSONEncoder = JSONEncoder()
    ) throws -> MockReply {
        .status(status, headers: [.contentType: "application/json"], body: try encoder.encode(model))
    }

    /// A failed transfer.
    ///
    /// - Parameter error: The transport's error, which the fetch reports as `transport`. An `HTTPTransferFailure<any Error>` is
    ///   reported as its own case.
    /// - Returns: The reply.
    public static func failure(_ error: any Error) -> MockReply { MockReply(outcome: .failure(error)) }

    /// A failed transfer of a kind, for tests of code that judges failures, such as a retry policy.
    ///
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - phase: The phase of the transfer.
    /// - Returns: The reply.
    public static func failure(_ kind: HTTP.FailureKind, during phase: HTTP.Phase = .receiving) -> MockReply {
        .failure(MockFailure(kind: kind, phase: phase))
    }

    /// No answer, for tests of cancels and timeouts.
    public static var silence: MockReply { MockReply(outcome: .silence) }

    /// The same response, cut off after its body: for tests of streams, downloads and their resumption.
    ///
    /// - Parameter kind: The kind of the failure.
    /// - Returns: The reply. A failure or silence stays as it is.
    public func cut(by kind: HTTP.FailureKind = .truncated) -> MockReply {
        var copy = self
        copy.cut = MockFailure(kind: kind, phase: .receiving)
        return copy
    }

    /// The same reply after a delay.
    ///
    /// - Parameter delay: The delay, on the stack's clock.
    /// - Returns: The delayed reply.
    public func delayed(by delay: Duration) -> MockReply {
        var copy = self
        copy.delay = delay
        return copy
    }
}

/// A failure of a transfer that a test requested.
public struct MockFailure: HTTPTransportError, Hashable {
    /// The kind of the failure.
    public let kind: HTTP.FailureKind
    /// The phase of the transfer, if known.
    public let phase: HTTP.Phase?

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - phase: The phase of the transfer, if known.
    public init(kind: HTTP.FailureKind, phase: HTTP.Phase? = nil) {
        self.kind = kind
        self.phase = phase
    }
}
