import Synchronization

/// Requests of which none is the last one again: each asks for another URL, and all bring a token.
public final class DistinctRequests: Sendable {
    /// The fields that every request brings.
    public static let fields = [
        ("Accept", "application/json"), ("Authorization", "Bearer 0123456789abcdef0123456789abcdef"),
    ]

    private let url: String
    private let count = Atomic(0)

    /// Makes them, if the settings ask for any.
    public init?(_ settings: ClientSettings) {
        guard settings.isDistinct else { return nil }
        url = settings.url
    }

    /// The URL to ask for next.
    public func nextURL() -> String { "\(url)?n=\(count.wrappingAdd(1, ordering: .relaxed).newValue)" }
}
