/// Content was not as long as was said.
public struct BodyLengthError: Error, Hashable, CustomStringConvertible {
    /// The length that was said, in bytes.
    public let declared: Int64
    /// The length there was, in bytes; more than ``declared`` means "at least".
    public let actual: Int64

    /// Both lengths, in a sentence.
    public var description: String { "The content has \(actual) bytes where \(declared) were declared." }
}
