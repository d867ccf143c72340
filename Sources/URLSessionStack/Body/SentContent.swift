internal import Foundation
internal import NetworkStack

/// The body of a request, in a form that can be sent from the first byte as often as URLSession needs.
enum SentContent {
    case none
    case bytes(Data)
    /// A file, as it was when it was opened and its length was announced.
    case file(any HTTPBodySource, path: String, length: Int64)

    /// The body of a hop; that of a stream is not known yet.
    init(_ hop: HTTPHop) {
        switch hop.request.body {
        case .bytes(let data) where !data.isEmpty: self = .bytes(data)
        case .file(let path):
            if let source = hop.source, let length = source.length, length > 0 {
                self = .file(source, path: path, length: length)
            } else {
                self = .none
            }
        case .none, .bytes, .stream: self = .none
        }
    }

    var isNone: Bool { if case .none = self { true } else { false } }

    /// The length in bytes.
    var length: Int64 {
        switch self {
        case .none: 0
        case .bytes(let data): Int64(data.count)
        case .file(_, _, let length): length
        }
    }

    /// An unopened stream of the body.
    ///
    /// - Parameter onFailure: Called with the error if the body cannot be read to its end.
    /// - Returns: The stream. There is always one, because URLSession would send a head without its body otherwise.
    func stream(onFailure: @escaping (any Error) -> Void) -> InputStream {
        switch self {
        case .none: InputStream(data: Data())
        case .bytes(let data): Platform.stream(of: data)
        case .file(let source, let path, let length):
            Platform.stream(of: source, path: path, length: length, onFailure: onFailure)
        }
    }
}
