extension HTTP.Metrics {
    /// A step of a request.
    @nonexhaustive
    public enum Step: String, Sendable, CaseIterable {
        /// The wait for a connection.
        case queue
        /// The lookup of the host's name.
        case nameLookup
        /// The opening of the connection.
        case connecting
        /// The negotiation of TLS.
        case securing
        /// Sending the request.
        case sending
        /// The wait for the first byte of the response.
        case server
        /// Receiving the response.
        case receiving
    }

    /// How long each step of the request took that was reached, in order. The last one of a failure is the step that it failed in.
    public var steps: [(step: Step, duration: Duration)] {
        var steps: [(step: Step, duration: Duration)] = []
        if let queue { steps.append((.queue, queue)) }
        var reached = Duration.zero
        let marks: [(Step, Duration?)] = [
            (.nameLookup, resolved), (.connecting, connected), (.securing, secured), (.sending, requestSent),
            (.server, firstByte), (.receiving, ended),
        ]
        for case (let step, let mark?) in marks {
            // A failure has an end and no first byte.
            let isLast = step == .receiving
            steps.append((isLast && firstByte == nil ? stepOfFailure : step, max(mark - reached, .zero)))
            reached = max(reached, mark)
        }
        return steps
    }

    /// The longest step, if any was measured.
    public var slowestStep: (step: Step, duration: Duration)? { steps.max { $0.duration < $1.duration } }

    private var stepOfFailure: Step {
        switch endedIn {
        case .resolving: .nameLookup
        case .connecting: .connecting
        case .securing: .securing
        case .sending: .sending
        case .waiting: .server
        default: .receiving
        }
    }
}
