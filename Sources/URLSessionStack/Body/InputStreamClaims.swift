internal import Foundation
internal import NetworkStack

/// The input streams that were opened as bodies. A stream can be read once, but its `URLRequest` may be converted several times:
/// all bodies that are made of one stream share one claim to it.
struct InputStreamClaims {
    private struct Entry {
        weak var stream: InputStream?
        let wasOpened: Lock<Bool>
    }

    private static let shared = Lock(InputStreamClaims())

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// Above this number of entries, those of freed streams are removed.
    private var limit = 64

    /// The claim to a stream: whether its bytes were opened.
    static func claim(to stream: InputStream) -> Lock<Bool> { shared.withLock { $0.claim(to: stream) } }

    private mutating func claim(to stream: InputStream) -> Lock<Bool> {
        let identifier = ObjectIdentifier(stream)
        // The identifier of a freed stream may be reused.
        if let entry = entries[identifier], entry.stream === stream { return entry.wasOpened }
        if entries.count >= limit {
            entries = entries.filter { $0.value.stream != nil }
            limit = max(64, entries.count * 2)
        }
        let wasOpened = Lock(false)
        entries[identifier] = Entry(stream: stream, wasOpened: wasOpened)
        return wasOpened
    }
}
