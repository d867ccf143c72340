/// The clocks of one fetch. An event only stores its time; the timeouts are checked when the timer fires.
struct FetchClocks {
    let startedAt: MonotonicTime
    private var attemptStartedAt: MonotonicTime
    private let timeouts: HTTP.Options.Timeouts
    private var phase = HTTP.Phase.making
    private var lastProgress: MonotonicTime
    /// From when the first-byte timeout counts: the last byte of the request that was sent, or the last change of phase.
    /// Informational responses do not move it.
    private var lastSent: MonotonicTime
    /// Whether a server may have received bytes of this attempt from an earlier hop or connection, one that was redirected or one that
    /// died; or from the request that an HTTPInterceptor has had sent.
    private(set) var hasSent = false
    /// Since when a connection is awaited.
    private var connectingSince: MonotonicTime
    private var isHeldBack = false
    /// The steps of the hop under way.
    private(set) var marks: HopMarks
    /// Whether the head of a stream has come. The attempt has succeeded with that, and cannot take too long any more.
    private var isOpened = false

    init(_ timeouts: HTTP.Options.Timeouts, startedAt: MonotonicTime) {
        self.timeouts = timeouts
        self.startedAt = startedAt
        attemptStartedAt = startedAt
        lastProgress = startedAt
        lastSent = startedAt
        connectingSince = startedAt
        marks = HopMarks(queuedAt: startedAt)
    }

    mutating func beganAttempt(now: MonotonicTime) {
        attemptStartedAt = now
        (isHeldBack, hasSent) = (false, false)
        entered(.making, now: now)
    }

    /// The fetch enters a phase, as the transport reports in the same hop, or as the engine decides. A hop that is queued after it sent
    /// content has only read that ahead.
    mutating func entered(_ phase: HTTP.Phase, now: MonotonicTime, isSameHop: Bool = false) {
        if !self.phase.isConnecting { connectingSince = now }
        let hasReadAhead = isSameHop && phase == .queued && self.phase == .sending
        if phase.isBeforeSending, !hasReadAhead,
            self.phase == .sending || self.phase == .waiting || self.phase == .receiving
        {
            hasSent = true
        }
        marks.entered(phase, after: self.phase, now: now)
        self.phase = phase
        lastProgress = now
        lastSent = now
    }

    mutating func opened() { isOpened = true }

    /// The stream has failed before it was delivered: only the total timeout goes on.
    mutating func streamFailed() { phase = .settling }

    /// A server may have received the request, whatever the attempt comes to.
    mutating func mayHaveArrived() { hasSent = true }

    /// A hop begins, and its wait for a connection. The last known time is used instead of the clock's: the request has just been made,
    /// or the response that led here has just come.
    mutating func queued() {
        entered(.queued, now: lastProgress)
        marks = HopMarks(queuedAt: lastProgress)
    }

    /// From the start of the fetch until the latest hop began.
    var hopStart: Duration { marks.queued - startedAt }

    mutating func progressed(now: MonotonicTime) { lastProgress = now }

    mutating func sent(now: MonotonicTime) {
        lastProgress = now
        if phase == .sending { lastSent = now }
    }

    /// The receiver itself holds back, or goes on.
    mutating func heldBack(_ isHeldBack: Bool, now: MonotonicTime) {
        self.isHeldBack = isHeldBack
        lastProgress = now
    }

    /// The earliest moment at which any clock could run out, seen from the beginning of an attempt.
    var firstDeadline: MonotonicTime {
        if case .running(until: let first) = reading(attemptStartedAt) { first } else { attemptStartedAt }
    }

    /// A phase as an error reports it. A phase before sending would mean that the server has not seen the request, which it may have:
    /// before a redirect, or before a connection that died.
    func reported(_ phase: HTTP.Phase) -> HTTP.Phase { hasSent && phase.isBeforeSending ? .waiting : phase }

    enum Reading {
        case expired(HTTP.Timeout, during: HTTP.Phase)
        case running(until: MonotonicTime)
    }

    func read(_ now: MonotonicTime) -> Reading {
        switch reading(now) {
        case .expired(let timeout, let phase): .expired(timeout, during: reported(phase))
        case let reading: reading
        }
    }

    private func reading(_ now: MonotonicTime) -> Reading {
        var next = now + timeouts.idle
        if let total = timeouts.total {
            guard startedAt + total > now else { return .expired(.total, during: phase) }
            next = min(next, startedAt + total)
        }
        if let attempt = timeouts.attempt, !isOpened, phase != .settling, phase != .delayed {
            guard attemptStartedAt + attempt > now else { return .expired(.attempt, during: phase) }
            next = min(next, attemptStartedAt + attempt)
        }
        if let firstByte = timeouts.firstByte {
            let isRunning = phase == .sending || phase == .waiting
            guard !isRunning || lastSent + firstByte > now else { return .expired(.firstByte, during: phase) }
            next = min(next, (isRunning ? lastSent : now) + firstByte)
        }
        if let connect = timeouts.connect {
            guard !phase.isConnecting || connectingSince + connect > now else {
                return .expired(.connect, during: phase)
            }
            next = min(next, (phase.isConnecting ? connectingSince : now) + connect)
        }
        switch phase {
        case .making, .queued, .settling, .delayed: break
        case .resolving, .connecting, .securing, .sending, .waiting, .receiving:
            if isHeldBack { break }
            guard lastProgress + timeouts.idle > now else { return .expired(.idle, during: phase) }
            next = min(next, lastProgress + timeouts.idle)
        }
        return .running(until: next)
    }
}
