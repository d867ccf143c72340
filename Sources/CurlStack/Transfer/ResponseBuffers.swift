internal import NetworkStack

/// What a transfer keeps of its response until that is told. The next transfer has it after it: so few need memory of their own.
final class ResponseBuffers {
    let head = HeadReader(limits: .init())
    let body = ByteBuffer()
    fileprivate var next: ResponseBuffers?

    /// Buffers kept ready, each with the next: a list in one piece would be checked for exclusivity at each use.
    final class Pool {
        private var first: ResponseBuffers?
        private var count = 0

        /// Those beyond this are freed, and so are those of long heads, and of content that nobody took.
        private static let most = 256
        private static let longestHead = 4096

        /// Empty buffers, for a head within these limits.
        func take(limits: HTTP.Options.Limits) -> ResponseBuffers {
            let buffers = takeKept() ?? ResponseBuffers()
            buffers.head.limits = limits
            return buffers
        }

        private func takeKept() -> ResponseBuffers? {
            guard let buffers = first.take() else { return nil }
            first = buffers.next.take()
            count -= 1
            return buffers
        }

        /// Keeps buffers that nobody else has.
        func keep(_ buffers: ResponseBuffers) {
            guard count < Self.most, buffers.head.capacity <= Self.longestHead, buffers.body.capacity == 0 else {
                return
            }
            buffers.head.startOver()
            buffers.next = first.take()
            first = buffers
            count += 1
        }
    }
}
