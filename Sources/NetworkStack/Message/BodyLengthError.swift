internal import FoundationEssentials

/// A body does not have its declared length.
public struct BodyLengthError: DescribedError, Hashable {
    /// The declared length in bytes.
    public let declared: Int64
    /// The actual length in bytes; if more than ``declared``, it means "at least".
    public let actual: Int64

    /// Makes the error, for tests.
    ///
    /// - Parameters:
    ///   - declared: The declared length in bytes.
    ///   - actual: The actual length in bytes.
    public init(declared: Int64, actual: Int64) { (self.declared, self.actual) = (declared, actual) }

    /// Both lengths, in a sentence.
    public var description: String { "The body has \(actual) bytes where \(declared) were declared." }
}
