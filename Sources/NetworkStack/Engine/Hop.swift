internal import FoundationEssentials

/// One hop under way: its request, what steers it, and what came of its response. It changes under the lock of its fetch only.
final class Hop {
    let number: Int
    let request: HTTP.Request
    /// The fragment of the request's URL, which is not sent.
    let fragment: String?
    var source: (any HTTPBodySource)?
    var transfer: (any HTTPTransfer)?
    /// Whether to resume the transfer as soon as it is known.
    var resumesSending = false
    var resumesReceiving = false
    var head: HTTP.Response?
    /// Whether the status of the head is a failure.
    var fails = false
    /// Where the head redirects to.
    var next: HTTP.Request?
    /// The bytes of a redirect's body so far.
    var drained: Int64 = 0
    var body = Data()
    /// The connection that carries it.
    var connection: ConnectionUse?
    /// The bytes of the request's body that were sent, and of the response's that have come.
    var sent: Int64 = 0
    var received: Int64 = 0

    init(_ number: Int, _ request: HTTP.Request, fragment: String?, source: (any HTTPBodySource)?) {
        self.number = number
        self.request = request
        self.fragment = fragment
        self.source = source
    }

    /// How long the body of the request is, if that is known.
    var contentLength: Int64? { source.map(\.length) ?? request.body.length }
}
