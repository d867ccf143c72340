public import Foundation
public import NetworkStack

/// An endpoint whose answer is in a file, for tests, or for an app whose server is not ready yet.
///
///     extension UserEndpoint: MockEndpoint {
///         var mockFilename: String? {
///             switch self {
///             case .all: "users"
///             case .get: "user"
///             }
///         }
///     }
///
/// A ``MockNetworkStack`` with ``MockFiles`` answers its requests with the file's contents. The resource has to be made from the
/// endpoint with `.endpoint(_:)`.
public protocol MockEndpoint: HTTPResourceEndpoint {
    /// The file's name without its extension, or `nil` if this endpoint is not mocked.
    var mockFilename: String? { get }
    /// The file's extension; `json` by default, `nil` for none.
    var mockExtension: String? { get }
}

extension MockEndpoint {
    /// JSON.
    public var mockExtension: String? { "json" }
}

/// The location of the files of mock endpoints.
public struct MockFiles: Sendable {
    private let locate: @Sendable (_ name: String, _ extension: String?) -> URL?

    /// Uses files in a folder.
    ///
    /// - Parameter folder: The folder's URL.
    public init(folder: URL) {
        locate = { name, type in folder.appending(path: type.map { "\(name).\($0)" } ?? name) }
    }

    /// Uses files in a bundle's resources.
    ///
    /// - Parameter bundle: The bundle, such as `.module` in a package's tests.
    public init(bundle: Bundle) {
        locate = { name, type in bundle.url(forResource: name, withExtension: type) }
    }

    /// The reply with an endpoint's file.
    func reply(for endpoint: any MockEndpoint) throws(MockError) -> MockReply? {
        guard let name = endpoint.mockFilename else { return nil }
        let type = endpoint.mockExtension
        guard let content = locate(name, type).flatMap({ try? Data(contentsOf: $0) }) else {
            throw .mockDataMissing(file: type.map { "\(name).\($0)" } ?? name)
        }
        let headers: HTTP.Headers = type == "json" ? [.contentType: "application/json"] : [:]
        return .status(.ok, headers: headers, body: content)
    }
}
