/// Content was not as long as was said.
public struct BodyLengthError: Error, Hashable, CustomStringConvertible {
    /// The length that was said, in bytes.
    public let declared: Int64
    /// The length there was, in bytes; more than ``declared`` means "at least".
    public let actual: Int64

    /// Makes the error, for tests of who is to handle it.
    ///
    /// - Parameters:
    ///   - declared: The length that was said, in bytes.
    ///   - actual: The length there was, in bytes.
    public init(declared: Int64, actual: Int64) { (self.declared, self.actual) = (declared, actual) }

    /// Both lengths, in a sentence.
    public var description: String { "The content has \(actual) bytes where \(declared) were declared." }
}
