internal import Foundation
internal import NetworkStack

/// A body on its way through a `URLRequest`, which knows bytes and input streams only.
///
/// The stack takes the body out again. Whoever reads the stream itself finds a file's bytes, and nothing for a stream.
final class CarriedBody: InputStream {
    let body: HTTP.Body

    init(_ body: HTTP.Body) {
        self.body = body
        super.init(data: Data())
    }

    init?(_ body: HTTP.Body, path: String) {
        self.body = body
        super.init(url: URL(fileURLWithPath: path))
    }
}
