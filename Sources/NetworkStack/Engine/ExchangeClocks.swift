/// The clocks of one exchange. They are read when somebody asks, and cost nothing while nobody does.
struct ExchangeClocks {
    let startedAt: MonotonicTime
    private let timeouts: HTTP.Options.Timeouts
    private var phase = HTTP.Phase.making
    private var lastProgress: MonotonicTime
    /// Since when the head is awaited: an informational response is progress, and not the head.
    private var lastSent: MonotonicTime
    private var isHeldBack = false

    init(_ timeouts: HTTP.Options.Timeouts, startedAt: MonotonicTime) {
        self.timeouts = timeouts
        self.startedAt = startedAt
        lastProgress = startedAt
        lastSent = startedAt
    }

    mutating func entered(_ phase: HTTP.Phase, now: MonotonicTime) {
        self.phase = phase
        lastProgress = now
        lastSent = now
    }

    mutating func progressed(now: MonotonicTime) {
        lastProgress = now
        if phase == .sending { lastSent = now }
    }

    /// The receiver itself holds back, or goes on.
    mutating func heldBack(_ isHeldBack: Bool, now: MonotonicTime) {
        self.isHeldBack = isHeldBack
        lastProgress = now
    }

    /// The earliest moment at which any clock could run out.
    var firstLook: MonotonicTime {
        [timeouts.firstByte, timeouts.total].compactMap { $0 }.reduce(startedAt + timeouts.idle) {
            min($0, startedAt + $1)
        }
    }

    enum Reading {
        case expired(HTTP.Timeout, during: HTTP.Phase)
        case lookAgain(MonotonicTime)
    }

    func read(_ now: MonotonicTime) -> Reading {
        var next = now + timeouts.idle
        if let total = timeouts.total {
            guard startedAt + total > now else { return .expired(.total, during: phase) }
            next = min(next, startedAt + total)
        }
        if let firstByte = timeouts.firstByte {
            let isRunning = phase == .sending || phase == .waiting
            guard !isRunning || lastSent + firstByte > now else { return .expired(.firstByte, during: phase) }
            next = min(next, (isRunning ? lastSent : now) + firstByte)
        }
        switch phase {
        case .making, .queued: break
        case .resolving, .connecting, .securing, .sending, .waiting, .receiving:
            if isHeldBack { break }
            guard lastProgress + timeouts.idle > now else { return .expired(.idle, during: phase) }
            next = min(next, lastProgress + timeouts.idle)
        }
        return .lookAgain(next)
    }
}
