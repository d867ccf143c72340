internal import NetworkStack

/// How old the addresses of a name may be, transfer by transfer.
///
/// With an age set, libcurl walks its whole table of names after each transfer that was alone on its connection, which is 2 % of a small
/// request. So, unless the age is short, one transfer in 15 seconds has an age, and removes old addresses for the others.
final class AddressAge {
    /// Any age will do.
    static let any = -1
    /// How many seconds addresses are not checked.
    private static let rest = 15

    private let seconds: Int
    private let mayRest: Bool
    private var thrownOutAt: MonotonicTime?

    /// Makes a rule by which no address is used that is older than some seconds.
    ///
    /// - Parameters:
    ///   - seconds: How old.
    ///   - mayRest: Whether any age may be set (not with ``LibcurlQuirks/forgottenAddresses``).
    init(seconds: Int, mayRest: Bool) {
        self.seconds = seconds
        self.mayRest = mayRest && seconds >= 4 * Self.rest
    }

    /// The age to set for a transfer that begins now, in seconds.
    func next(at now: MonotonicTime) -> Int {
        guard mayRest else { return seconds }
        if let thrownOutAt, now - thrownOutAt < .seconds(Self.rest) { return Self.any }
        return seconds - Self.rest
    }

    /// A transfer has ended, which may be long after it began.
    ///
    /// - Parameters:
    ///   - age: The age that was set for it.
    ///   - aloneOnConnection: Whether it had a connection, and did not share it.
    ///   - now: The moment.
    func ended(with age: Int?, aloneOnConnection: Bool, at now: @autoclosure () -> MonotonicTime) {
        if age != Self.any, aloneOnConnection { thrownOutAt = now() }
    }
}
