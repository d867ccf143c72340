internal import FoundationEssentials

/// Chunks that wait to be read, in order. Small ones are joined: otherwise very many would cost more than their bytes.
struct ChunkQueue {
    private var chunks = Deque<Data>()
    /// Small chunks at the end.
    private var joined = Data()
    /// How many bytes wait.
    private(set) var count = 0

    /// Smaller chunks than this many bytes are joined.
    private static let small = 4096

    mutating func append(_ chunk: Data) {
        count += chunk.count
        if chunk.count < Self.small, joined.count < Self.small {
            if joined.isEmpty { joined = chunk } else { joined.append(chunk) }
        } else {
            if !joined.isEmpty { chunks.append(joined) }
            joined = Data()
            if chunk.count < Self.small { joined = chunk } else { chunks.append(chunk) }
        }
    }

    /// Takes the chunk that has waited longest, with what was joined to it.
    mutating func popFirst() -> Data? {
        var chunk = chunks.popFirst() ?? Data()
        if chunk.isEmpty { swap(&chunk, &joined) }
        count -= chunk.count
        return chunk.isEmpty ? nil : chunk
    }
}
