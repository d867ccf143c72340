internal import CCurl
internal import NetworkStack

/// Undoes one content coding (RFC 9110 section 8.4), piece by piece, and knows whether its end has come.
///
/// libcurl would decode too, but it takes a stream that is cut short for a whole one, and cannot stop in the middle of a
/// bomb. The decoders are the very libraries it is linked with.
protocol ContentDecoder: AnyObject {
    /// Decodes bytes and hands on what comes of them.
    ///
    /// - Parameters:
    ///   - bytes: The coded bytes.
    ///   - take: Takes decoded bytes; answers whether to go on.
    /// - Returns: Whether to go on, and if not, why.
    func decode(_ bytes: RawSpan, _ take: (RawSpan) -> Bool) -> DecodingStep

    /// Whether the coded stream was complete with the last byte that came.
    var isFinished: Bool { get }
}

/// What came of a piece.
enum DecodingStep {
    case goOn
    /// The consumer stopped.
    case stopped
    /// The bytes are not of the coding.
    case corrupt
    /// The output exceeds the limit of the decompression ratio.
    case excessive
}

/// What follows the end of a coded stream. A little is padding; more is a way to keep decoders busy with nothing.
struct Padding {
    private var count = 0

    var hasBegun: Bool { count > 0 }

    mutating func take(_ more: Int) -> DecodingStep {
        count += more
        return count > 64 * 1024 ? .corrupt : .goOn
    }
}

/// The content codings this process can undo.
enum ContentCoding: String, CaseIterable {
    case gzip
    case deflate
    case br
    case zstd

    /// How many bytes the decoder of one coding may make of one piece of at most 16 KiB, where nothing else sets a limit:
    /// more than any gzip can, and than can be waited for.
    static let pieceLimit = 64 << 20

    /// Content with more codings than this, one over the other, is refused.
    static let mostNested = HeadJudge.mostCodings

    /// Those whose library is there, in order of preference.
    static let available = allCases.filter { $0.makeDecoder() != nil }

    /// Names a coding as a server does, in any case, with the old names that are still in use.
    init?(name: String) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .br
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// The first coding of a list that this process cannot undo.
    static func unknown(in names: [String]) -> String? {
        names.first { name in !(ContentCoding(name: name).map(available.contains) ?? false) }
    }

    /// A decoder for codings in the order they were applied, or `nil` if one of them cannot be undone or there are too many.
    static func decoder(for names: [String]) -> (any ContentDecoder)? {
        guard names.count <= mostNested else { return nil }
        var decoders: [any ContentDecoder] = []
        for name in names.reversed() {
            guard let next = ContentCoding(name: name)?.makeDecoder() else { return nil }
            decoders.append(next)
        }
        return decoders.count > 1 ? NestedDecoder(decoders) : decoders.first
    }

    /// A decoder, or `nil` if its library is not there.
    func makeDecoder() -> (any ContentDecoder)? {
        switch self {
        case .gzip: ZlibDecoder(isGzip: true)
        case .deflate: ZlibDecoder(isGzip: false)
        case .br: BrotliDecoder()
        case .zstd: ZstdDecoder()
        }
    }
}

/// Several codings, one around the other.
final class NestedDecoder: ContentDecoder {
    /// In the order in which they are undone.
    private let decoders: [any ContentDecoder]
    /// What one piece has become on the way, before its last decoder: all of it counts together, because each decoder could
    /// make much of every bit of what the one before it makes.
    private var count = 0

    /// Undoes several codings, the last that was applied first.
    init(_ decoders: [any ContentDecoder]) { self.decoders = decoders }

    var isFinished: Bool { decoders.allSatisfy(\.isFinished) }

    func decode(_ bytes: RawSpan, _ take: (RawSpan) -> Bool) -> DecodingStep {
        count = 0
        return decode(bytes, by: decoders[...], take)
    }

    private func decode(
        _ bytes: RawSpan,
        by decoders: ArraySlice<any ContentDecoder>,
        _ take: (RawSpan) -> Bool
    ) -> DecodingStep {
        guard let decoder = decoders.first else { return .goOn }
        let rest = decoders.dropFirst()
        if rest.isEmpty { return decoder.decode(bytes, take) }
        var nextStep = DecodingStep.goOn
        let step = decoder.decode(bytes) { decoded in
            count += decoded.byteCount
            nextStep = count > ContentCoding.pieceLimit ? .excessive : decode(decoded, by: rest, take)
            return nextStep == .goOn
        }
        return nextStep == .goOn ? step : nextStep
    }
}
