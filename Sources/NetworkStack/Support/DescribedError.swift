public import FoundationEssentials

/// An error whose description is a sentence for people. `localizedDescription` returns the same sentence.
public protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
    /// The same as `description`: what `localizedDescription` returns.
    public var errorDescription: String? { description }
}
