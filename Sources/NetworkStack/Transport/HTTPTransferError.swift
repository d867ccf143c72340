internal import FoundationEssentials

/// The error of a transport that defines none itself: a kind, a phase and a sentence.
public struct HTTPTransferError: HTTPTransportError, DescribedError {
    /// The kind of the failure.
    public let kind: HTTP.FailureKind
    /// The phase in which the transfer failed, if known.
    public let phase: HTTP.Phase?
    /// The failure, in a sentence without secrets.
    public let description: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of the failure. With `.dns`, `.connect` and `.proxy`, no part of the request may have been sent:
    ///     retries rely on that.
    ///   - phase: The phase in which the transfer failed, if known.
    ///   - description: The failure, in a sentence without secrets.
    public init(_ kind: HTTP.FailureKind, during phase: HTTP.Phase? = nil, _ description: String) {
        self.kind = kind
        self.phase = phase
        self.description = description
    }
}
