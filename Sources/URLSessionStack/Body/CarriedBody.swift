internal import Foundation
internal import NetworkStack

/// Carries a body inside a `URLRequest`, which otherwise holds only bytes or an input stream.
///
/// The stack takes the body out again. Code that reads the stream itself gets a file's bytes, and nothing for a stream.
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
