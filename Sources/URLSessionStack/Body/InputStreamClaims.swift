internal import Foundation
internal import NetworkStack

/// Which input streams have been taken for content. A stream can be read once, however often a `URLRequest` that carries it
/// is made a neutral request: whatever is made of one stream shares one claim to it.
struct InputStreamClaims {
    private struct Entry {
        weak var stream: InputStream?
        let wasOpened: Lock<Bool>
    }

    private static let shared = Lock(InputStreamClaims())

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// With more entries than this, those of streams that are gone are let go of.
    private var limit = 64

    /// The claim to a stream: whether its content was opened.
    static func claim(to stream: InputStream) -> Lock<Bool> { shared.withLock { $0.claim(to: stream) } }

    private mutating func claim(to stream: InputStream) -> Lock<Bool> {
        let identifier = ObjectIdentifier(stream)
        // The identifier of a stream that is gone may be another's by now.
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
