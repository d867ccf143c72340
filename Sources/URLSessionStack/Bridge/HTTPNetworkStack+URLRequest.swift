public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The calls of URLSession on any stack, so that code written for URLSession keeps its types and its catches.
///
/// They take a `URLRequest`, return every status, and throw `URLError` (``Foundation/URLError/init(_:)``). The request's
/// `timeoutInterval` is the idle timeout; its default of 60 s leaves the stack's. There is no cache: `returnCacheDataDontLoad` is
/// refused with `resourceUnavailable`, and every other policy loads.
extension HTTPNetworkStack where Remote == Data {
    /// Sends a request and returns its response, as `URLSession.data(for:)` does.
    ///
    /// - Parameter request: The request.
    /// - Returns: The body and an `HTTPURLResponse`.
    /// - Throws: `URLError`; `.cancelled` if the task was cancelled.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await bridged {
            let (data, response) = try await data(for: HTTP.Request(request), options: request.change())
            return (data, try Self.bridged(response))
        }
    }

    /// Sends a request with a body, as `URLSession.upload(for:from:)` does.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: Its body.
    /// - Returns: The response's body and an `HTTPURLResponse`.
    /// - Throws: `URLError`; `.cancelled` if the task was cancelled.
    public func upload(for request: URLRequest, from body: Data) async throws -> (Data, URLResponse) {
        try await upload(request, .bytes(body))
    }

    /// Sends a request with a file as its body, as `URLSession.upload(for:fromFile:)` does.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - file: The file's URL.
    /// - Returns: The response's body and an `HTTPURLResponse`.
    /// - Throws: `URLError`; `.requestBodyStreamExhausted` if the file cannot be read.
    public func upload(for request: URLRequest, fromFile file: URL) async throws -> (Data, URLResponse) {
        try await upload(request, .file(path: file.path))
    }

    /// Sends a request and writes the response's body into a temporary file, as `URLSession.download(for:)` does.
    ///
    /// - Parameter request: The request.
    /// - Returns: The file's URL and an `HTTPURLResponse`. Move or remove the file.
    /// - Throws: `URLError`; `.cancelled` if the task was cancelled, `.cannotWriteToFile` if the file cannot be written.
    public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
        try await bridged {
            let file = FileManager.default.temporaryDirectory.appending(path: "download-\(UUID().uuidString)")
            let change = try request.change()
            let response = try await download(
                for: .init(HTTP.Request(request)),
                to: file.path,
                options: { options in
                    options.failsForStatus = { _ in false }
                    change(&options)
                }
            )
            return (file, try Self.bridged(response))
        }
    }

    /// Sends a request and returns its response when its head has arrived, as `URLSession.bytes(for:)` does.
    ///
    /// - Parameter request: The request.
    /// - Returns: The body, byte by byte while it arrives, and an `HTTPURLResponse`.
    /// - Throws: `URLError`, as reading the body does; `.cancelled` if the task was cancelled.
    public func bytes(for request: URLRequest) async throws -> (URLBytes<FetchError>, URLResponse) {
        try await bridged {
            let (stream, response) = try await stream(for: HTTP.Request(request), options: request.change())
            return (URLBytes(bytes: stream.bytes), try Self.bridged(response))
        }
    }

    private func upload(_ request: URLRequest, _ body: HTTP.Body) async throws -> (Data, URLResponse) {
        try await bridged {
            var sent = try HTTP.Request(request)
            sent.body = body
            let (data, response) = try await data(for: sent, options: request.change())
            return (data, try Self.bridged(response))
        }
    }

    /// Converts what a call throws.
    private func bridged<Value>(_ call: () async throws -> Value) async throws -> Value {
        do { return try await call() } catch let error as any HTTPError { throw URLError(error) } catch {
            throw error as? URLError ?? URLError(.badURL, userInfo: [NSLocalizedDescriptionKey: "\(error)"])
        }
    }

    private static func bridged(_ response: HTTP.Response) throws -> URLResponse {
        guard let response = HTTPURLResponse(response) else { throw URLError(.badServerResponse) }
        return response
    }
}

extension URLRequest {
    /// What the request's policy changes in a stack's options.
    ///
    /// - Throws: `URLError` if its cache policy cannot be kept.
    fileprivate func change() throws -> HTTP.Options.Change {
        guard cachePolicy != .returnCacheDataDontLoad else {
            throw URLError(
                .resourceUnavailable,
                userInfo: [
                    NSLocalizedDescriptionKey: "There is no cache, so nothing can be returned without loading it."
                ]
            )
        }
        let interval = timeoutInterval
        guard interval > 0, interval != 60 else { return { _ in } }
        return { $0.timeouts.idle = .seconds(min(interval, 1e9)) }
    }
}
