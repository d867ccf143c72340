/// What follows the head of a response whose body is streamed.
extension FetchState {
    /// Whether the head of a stream has come and the fetch has not ended: in this attempt, or in any if none is named.
    func streams(in number: Int?) -> Bool {
        switch stage {
        case .opening, .openingLate, .streaming: number ?? attemptNumber == attemptNumber
        default: false
        }
    }

    /// Whether this hop is under way and its body goes to a reader.
    func isStreaming(_ number: Int) -> Bool { isCurrent(number) && streams(in: nil) }

    /// A piece of a stream came, and its reader has room for more or not.
    mutating func streamed(hop: Int, hasRoom: Bool, now: MonotonicTime) {
        if isStreaming(hop) { clocks.heldBack(!hasRoom, now: now) }
    }

    /// The reader of a stream has room again. Returns the transfer to resume.
    mutating func readerResumed(now: MonotonicTime) -> (any HTTPTransfer)? {
        guard streams(in: nil), let hop = activeHop else { return nil }
        clocks.heldBack(false, now: now)
        if hop.transfer == nil { hop.resumesReceiving = true }
        return hop.transfer
    }

    /// The head of a stream is to be delivered. Returns when, and whether the stream has ended already.
    mutating func open(_ ending: Ending) -> OpenedStream {
        let isOver: Bool
        switch stage {
        case .opening(let hop, _): (stage, isOver) = (.streaming(hop), false)
        case .openingLate: (stage, isOver) = (.openingLate(isReported: true), true)
        default: return OpenedStream(moment: .later, isOver: false)
        }
        var delegate = delegate  // The stream needs it, too.
        return OpenedStream(moment: delivery.ended(ending, by: &delegate), isOver: isOver)
    }

    /// When to deliver the head of a stream.
    struct OpenedStream: ~Copyable {
        let moment: Delivery.Moment
        let isOver: Bool
    }

    /// A stream has come to its end. Returns whether to end the fetch now; if not, its head is delivered first, and the caller
    /// closes the source of its hop.
    mutating func streamFinished() -> (ends: Bool, last: Hop?) {
        switch stage {
        case .opening(let hop, let isReported):
            stage = .openingLate(isReported: isReported)
            hop.transfer = nil
            return (false, hop)
        // An interceptor dropped the stream meanwhile.
        case .openingLate: return (false, nil)
        default:
            activeHop?.transfer = nil
            return (true, nil)
        }
    }

    /// A stream has failed. Returns what to release if its head is not delivered yet: it is delivered all the same, since a
    /// success was, or is being, reported to the interceptors. A cancel does not wait for that. While HTTPInterceptors run, nothing has
    /// been reported, and a final failure ends the fetch.
    mutating func streamFailed(_ ending: Ending) -> HeldResources? {
        if ending.isCancelled || intercepting != nil && ending.isFinal { return nil }
        switch stage {
        case .opening(_, let isReported), .openingLate(let isReported):
            let opening = exchange(&stage, with: .openingLate(isReported: isReported))
            // The total clock goes on while interceptors run.
            return HeldResources(stage: opening, ticket: intercepting == nil ? ticket.take() : nil)
        default: return nil
        }
    }
}
