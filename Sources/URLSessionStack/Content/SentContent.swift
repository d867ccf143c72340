internal import Foundation
internal import NetworkStack

/// The content of a request, such that it can be sent from the first byte as often as URLSession needs.
enum SentContent {
    case none
    case bytes(Data)
    case file(path: String, length: Int64)
    case spooled(TemporaryFile, length: Int64)

    /// The content of a hop; that of a stream is not known yet.
    init(_ hop: HTTPHop) {
        switch hop.request.body {
        case .bytes(let data) where !data.isEmpty: self = .bytes(data)
        case .file(let path):
            let length = hop.source?.length ?? 0
            self = length > 0 ? .file(path: path, length: length) : .none
        case .none, .bytes, .stream: self = .none
        }
    }

    var isNone: Bool { if case .none = self { true } else { false } }

    /// The length in bytes.
    var length: Int64 {
        switch self {
        case .none: 0
        case .bytes(let data): Int64(data.count)
        case .file(_, let length), .spooled(_, let length): length
        }
    }

    /// A stream of the content, unopened.
    func stream() throws -> InputStream? {
        let path: String
        switch self {
        case .none: return nil
        case .bytes(let data): return InputStream(data: data)
        case .file(let name, _): path = name
        case .spooled(let file, _): path = file.path
        }
        guard FileManager.default.isReadableFile(atPath: path), let stream = InputStream(fileAtPath: path) else {
            throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: path])
        }
        return stream
    }
}
