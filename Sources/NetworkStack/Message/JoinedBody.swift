internal import FoundationEssentials

/// Joins several bodies: into bytes if all are bytes, otherwise into a stream.
struct JoinedBody {
    private enum Piece {
        case bytes(Data)
        case file(path: String, length: Int64)
        case stream(HTTP.Body.Stream)
    }

    private var pieces: [Piece] = []
    /// The bytes after the last stream or file.
    private var tail = Data()

    mutating func append(_ data: Data) { tail.append(data) }

    /// Appends a body. Throws if it is a file that cannot be read, or has trailers.
    mutating func append(_ body: HTTP.Body) throws {
        switch body {
        case .none: return
        case .bytes(let data): return append(data)
        case .file(let path): pieces += [.bytes(tail), .file(path: path, length: try FileBodySource(path: path).size)]
        case .stream(let stream):
            guard stream.trailers == nil else { throw HTTP.InvalidValue("A part of a form has no trailers.") }
            pieces += [.bytes(tail), .stream(stream)]
        }
        tail = Data()
    }

    var body: HTTP.Body {
        if pieces.isEmpty { return .bytes(tail) }
        let pieces = pieces + [.bytes(tail)]
        let claims = pieces.flatMap { piece -> [Lock<Bool>] in
            if case .stream(let stream) = piece { stream.claims } else { [] }
        }
        return .stream(
            HTTP.Body.Stream(length: Self.length(of: pieces), claims: claims) { source in
                for piece in pieces {
                    switch piece {
                    case .bytes(let data): try await source.send(data)
                    case .file(let path, let length): try await Self.send(path, length: length, to: source)
                    case .stream(let stream): try await stream.send(to: source)
                    }
                }
            }
        )
    }

    /// The sum of the lengths; `nil` if one is not known, or if the sum overflows.
    private static func length(of pieces: [Piece]) -> Int64? {
        pieces.reduce(0) { total, piece in
            let length: Int64? =
                switch piece {
                case .bytes(let data): Int64(data.count)
                case .file(_, let length): length
                case .stream(let stream): stream.length
                }
            guard let (sum, overflows) = length.flatMap({ total?.addingReportingOverflow($0) }), !overflows else {
                return nil
            }
            return sum
        }
    }

    /// Sends a file, whose length must not have changed.
    private static func send(_ path: String, length: Int64, to source: StreamBodySource) async throws {
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
