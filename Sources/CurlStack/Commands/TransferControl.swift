internal import NetworkStack
private import Synchronization

/// The caller's side of a transfer: what is to be carried, and commands to the loop. It is also the transfer's identity.
final class TransferControl: HTTPTransfer {
    let hop: HTTPHop
    let sink: any HTTPTransferSink<CurlError>
    /// Whether a connection is to be opened and nothing sent on it.
    let opensOnly: Bool
    /// `nil` if the stack has no loop: then the hop fails at once.
    private let mailbox: Mailbox?
    private let latestIndex = Atomic(-1)

    /// The index of its transfer among the active ones; negative if it is not active. Only the loop's thread uses it; it is atomic because
    /// the type is `Sendable`.
    var activeIndex: Int {
        get { latestIndex.load(ordering: .relaxed) }
        set { latestIndex.store(newValue, ordering: .relaxed) }
    }

    init(hop: HTTPHop, sink: any HTTPTransferSink<CurlError>, mailbox: Mailbox?, opensOnly: Bool = false) {
        self.hop = hop
        self.sink = sink
        self.mailbox = mailbox
        self.opensOnly = opensOnly
    }

    /// Has the loop carry it.
    ///
    /// - Returns: Whether there is a loop.
    func start() -> Bool { mailbox?.post(.start(self)) ?? false }

    func cancel() { mailbox?.post(.cancel(self)) }

    func resumeReceiving() { mailbox?.post(.resumeReceiving(self)) }

    func resumeSending() { mailbox?.post(.resumeSending(self)) }

    /// Reports why nothing is carried. There is nothing to measure then.
    func fail(_ failure: HTTPTransferFailure<CurlError>) { sink.failed(failure, metrics: HTTP.Metrics()) }
}
