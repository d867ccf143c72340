/// What the JSON workload's list is made of.
public struct Article: Decodable, Sendable {
    /// A number.
    public let id: Int
    /// A line of text.
    public let title: String
    /// An amount.
    public let price: Double
    /// A flag.
    public let isAvailable: Bool
    /// Some words.
    public let tags: [String]
}
