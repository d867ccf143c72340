public import CurlStack
import Foundation
public import NetworkStack
public import URLSessionStack

/// Something came out otherwise than it must.
public struct Surprise: Error, CustomStringConvertible {
    /// What came out.
    public let description: String

    /// Says what came out.
    public init(_ description: String) { self.description = description }
}

/// Ends the program with a sentence unless something holds.
public func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    if !condition { throw Surprise(sentence()) }
}

/// The two backends: this is all of an app that differs between them.
public enum Backends {
    /// Makes both, set up alike.
    public static func both(
        _ configuration: Network.Configuration = .init()
    ) throws -> (curl: Network.CurlNetworkStack, urlSession: Network.URLSessionNetworkStack) {
        (
            try Network.CurlNetworkStack(configuration: configuration),
            try Network.URLSessionNetworkStack(configuration: configuration)
        )
    }
}

/// Runs an example; what it throws ends the process with 1.
public func example(_ name: String, _ body: @Sendable () async throws -> Void) async {
    do {
        try await body()
        print("\(name): done")
    } catch {
        print("\(name) failed: \(error)")
        exit(1)
    }
}
