internal import FoundationEssentials
internal import NetworkStack

/// The content of a request as it goes out: from memory, or from a source that may not have it yet.
struct RequestContent {
    private let bytes: Data?
    private let source: (any HTTPBodySource)?
    private let length: Int64?
    private var sent: Int64 = 0
    /// What the source handed over and libcurl has not taken yet.
    private var rest = Data()
    private var isExhausted = false

    init(_ hop: HTTPHop) {
        bytes = if case .bytes(let data) = hop.request.body { data } else { nil }
        source = hop.source
        length = hop.source == nil ? Int64(bytes?.count ?? 0) : hop.source?.length
    }

    /// Whether everything went out. libcurl does not ask again once it has as much as was announced.
    var isSent: Bool { isExhausted || sent == length }

    /// Whether there is none at all.
    var isNone: Bool { length == 0 }

    /// Whether any of it was asked for.
    var hasBegun: Bool { sent > 0 || isExhausted }

    /// The fields that follow the content.
    var trailers: HTTP.Headers { source?.trailers ?? [:] }

    /// The next bytes, at most `count`.
    mutating func next(upTo count: Int) -> HTTPBodyChunk {
        if let bytes {
            let piece = bytes.dropFirst(Int(sent)).prefix(count)
            return piece.isEmpty ? end() : taken(piece)
        }
        guard let source, !isExhausted else { return end() }
        if rest.isEmpty {
            switch source.next(upTo: count) {
            case .bytes(let data): rest = data
            case .end: return end()
            case let other: return other
            }
        }
        let piece = rest.prefix(count)
        rest = rest.dropFirst(piece.count)
        return taken(piece)
    }

    /// Goes back to the first byte.
    ///
    /// - Returns: Whether that is possible.
    mutating func rewind() -> Bool {
        (sent, rest, isExhausted) = (0, Data(), false)
        return source?.rewind() ?? true
    }

    private mutating func taken(_ piece: Data) -> HTTPBodyChunk {
        sent += Int64(piece.count)
        return .bytes(piece)
    }

    private mutating func end() -> HTTPBodyChunk {
        isExhausted = true
        return .end
    }
}
