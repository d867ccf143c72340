import FoundationEssentials
import NetworkStackTesting

@testable import CurlStack
@testable import NetworkStack

/// Ignores what a transfer reports.
final class IgnoringSink: HTTPTransferSink {
    static let shared = IgnoringSink()

    func entered(_ phase: HTTP.Phase) {}
    func informational(_ response: HTTP.Response) {}
    func head(_ response: HTTP.Response) {}
    func body(_ chunk: Data) -> Bool { true }
    func withheld(_ count: Int64) {}
    func sent(_ total: Int64) {}
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {}
    func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) {}
}

extension HTTPHop {
    /// A mailbox without a loop.
    static let mailbox = Mailbox()

    /// A GET of a history, which is never sent.
    static func ofHistory(
        queueTimeout: Duration? = nil,
        bodyLimit: Int64 = 1 << 30,
        allowsWithholding: Bool = true
    ) throws -> HTTPHop {
        var options = HTTP.Options()
        options.timeouts.queue = queueTimeout
        options.limits.body = bodyLimit
        let (request, origin, text, _) = try HTTP.Request(url: "http://a.test/").checked()
        return HTTPHop(
            request: request,
            origin: origin,
            urlText: text,
            options: Shared(options),
            trust: .ordinary,
            source: nil,
            allowsWithholding: allowsWithholding
        )
    }
}
