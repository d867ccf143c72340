internal import FoundationEssentials

/// Joins several bodies: into bytes if all are bytes, otherwise into a stream.
struct JoinedBody {
    private var pieces: [HTTP.Body.Stream] = []
    /// The bytes after the last stream or file.
    private var tail = Data()

    mutating func append(_ data: Data) { tail.append(data) }

    /// Appends a body. Throws if it is a file that cannot be read, or has trailers.
    mutating func append(_ body: HTTP.Body) throws {
        switch body {
        case .none: return
        case .bytes(let data): return append(data)
        case .file(let path): pieces += [.bytes(tail), try .file(path)]
        case .stream(let stream):
            guard stream.trailers == nil else { throw HTTP.InvalidValue("A part of a form has no trailers.") }
            pieces += [.bytes(tail), stream]
        }
        tail = Data()
    }

    var body: HTTP.Body {
        if pieces.isEmpty { return .bytes(tail) }
        let pieces = pieces + [.bytes(tail)]
        return .stream(
            HTTP.Body.Stream(length: Self.length(of: pieces), claims: pieces.flatMap(\.claims)) { source in
                for piece in pieces { try await piece.send(to: source) }
            }
        )
    }

    /// The sum of the lengths; `nil` if one is not known, or if the sum overflows.
    private static func length(of pieces: [HTTP.Body.Stream]) -> Int64? {
        pieces.reduce(0) { total, piece in
            guard let (sum, overflows) = piece.length.flatMap({ total?.addingReportingOverflow($0) }), !overflows else {
                return nil
            }
            return sum
        }
    }
}

extension HTTP.Body.Stream {
    fileprivate static func bytes(_ data: Data) -> Self {
        Self(length: Int64(data.count), claims: []) { source in try await source.send(data) }
    }

    /// A file, whose length must not change. Throws if it cannot be read.
    fileprivate static func file(_ path: String) throws -> Self {
        let length = try FileBodySource(path: path).size
        return Self(length: length, claims: []) { source in
            let file = try FileBodySource(path: path)
            defer { file.close() }
            guard file.size == length else { throw BodyLengthError(declared: length, actual: file.size) }
            while true {
                switch file.next(upTo: 64 * 1024) {
                case .bytes(let data): try await source.send(data)
                case .failed(let error): throw error
                case .end, .pending: return
                }
            }
        }
    }
}
