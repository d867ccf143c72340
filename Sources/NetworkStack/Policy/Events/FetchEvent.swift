/// Where a fetch was when an event happened.
public struct FetchEvent: Sendable {
    /// What is the same for all events of a request.
    struct Place: Sendable {
        let fetch: Int
        /// When the fetch began.
        var startedAt = MonotonicTime.now
        var attempt = 1
        var hop = 0
        var request: HTTP.Request?
        /// The attempt that the request is of.
        var requestAttempt = 0
        var sensitiveHeaders: Set<HTTP.HeaderName> = []

        /// Whether the request of the attempt has been made.
        var hasRequestOfAttempt: Bool { requestAttempt == attempt }
    }

    private let place: Shared<Place>
    /// Kept instead of an instant of the clock, whose layout is not known to the compiler: each copy would be costly.
    private let moment: MonotonicTime

    /// When it happened. The clock stands still while the system sleeps: compare this with the times of other events only.
    public var time: ContinuousClock.Instant { moment.instant }
    /// How long ago the fetch began, without the time that the system slept since.
    var fetchAge: Duration { MonotonicTime.now - place.value.startedAt }
    /// Whether the request of the attempt has been made: ``request`` is otherwise that of an earlier attempt.
    var hasRequestOfAttempt: Bool { place.value.hasRequestOfAttempt }
    /// Identifies the fetch in the process.
    public var fetch: Int { place.value.fetch }
    /// The number of the attempt, from 1. During a delay it is that of the attempt before.
    public var attempt: Int { place.value.attempt }
    /// The number of the request in the fetch, from 1; 0 before the first. Redirects and retries count on.
    public var hop: Int { place.value.hop }
    /// The last request, without its body; `nil` before the first is made. Its description shows no secrets; its fields do.
    public var request: HTTP.Request? { place.value.request }
    /// The header fields that the configuration or the options name as secret (``HTTP/Options/sensitiveHeaders``). The request's
    /// description shows their values if their names do not reveal that; a log adds them to its ``HTTP/Redaction``.
    public var sensitiveHeaders: Set<HTTP.HeaderName> { place.value.sensitiveHeaders }

    init(at place: Shared<Place>, _ moment: MonotonicTime) { (self.place, self.moment) = (place, moment) }

    /// Makes an event, for tests of a listener.
    ///
    /// - Parameters:
    ///   - fetch: Identifies the fetch.
    ///   - attempt: The number of the attempt, from 1.
    ///   - hop: The number of the request in the fetch, from 1.
    ///   - time: When it happened. The fetch began then, too.
    ///   - request: The request.
    ///   - sensitiveHeaders: The header fields that the configuration or the options name as secret.
    public init(
        fetch: Int,
        attempt: Int = 1,
        hop: Int = 0,
        time: ContinuousClock.Instant = .now,
        request: HTTP.Request? = nil,
        sensitiveHeaders: Set<HTTP.HeaderName> = []
    ) {
        var place = Place(fetch: fetch, attempt: attempt, hop: hop, request: request)
        if request != nil { place.requestAttempt = attempt }
        place.sensitiveHeaders = sensitiveHeaders
        moment = MonotonicTime(time)
        place.startedAt = moment
        self.place = Shared(place)
    }
}

extension FetchEvent: CustomStringConvertible, CustomReflectable {
    /// Where the fetch is, without header fields: `fetch 3, attempt 1, request 2: GET https://example.com/a?…`.
    public var description: String {
        "fetch \(fetch), attempt \(attempt), request \(hop)"
            + (request.map { ": \($0.method) \($0.url.redactedDescription)" } ?? "")
    }

    /// The description, so that a dump shows no header fields.
    public var customMirror: Mirror { Mirror(self, children: [("event", description)]) }
}

extension MonotonicTime {
    /// The same moment on both clocks.
    private static let origin = (moment: MonotonicTime.now, instant: ContinuousClock.now)

    init(_ instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (instant - Self.origin.instant).parts
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        self.init(nanoseconds: Self.origin.moment.nanoseconds &+ UInt64(bitPattern: nanoseconds))
    }

    /// The moment on the continuous clock.
    var instant: ContinuousClock.Instant {
        let nanoseconds = Int64(bitPattern: self.nanoseconds &- Self.origin.moment.nanoseconds)
        return Self.origin.instant + .nanoseconds(nanoseconds)
    }
}
