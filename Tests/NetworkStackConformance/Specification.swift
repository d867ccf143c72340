/// A section of a specification that a promise rests on, such as "RFC 9113 section 6.8".
public struct Specification: Sendable, Hashable, CustomStringConvertible {
    /// The specification and its section.
    public let description: String

    /// Makes the name of an RFC, or of a section of it.
    ///
    /// - Parameters:
    ///   - number: The RFC's number.
    ///   - section: The section, or `nil` for the whole RFC.
    /// - Returns: The section.
    public static func rfc(_ number: Int, _ section: String? = nil) -> Specification {
        Specification(description: "RFC \(number)" + (section.map { " section \($0)" } ?? ""))
    }
}
