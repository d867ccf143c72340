internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Collects the events of one hop, as a value: each method returns the events for the sink.
struct Answer {
    /// An event for a sink.
    enum Event {
        case informational(HTTP.Response)
        case head(HTTP.Response)
        case body(Data)
        case withheld(Int64)
        case finished
        case failed(HTTPTransferFailure<URLError>)
    }

    private let request: HTTP.Request
    private let limits: HTTP.Options.Limits
    private let holds: Holds

    private var head: ReceivedHead?
    /// The latest response, of any kind.
    private var latest: URLResponse?
    private var held: [Data] = []
    private var isHeld = false
    private var isWhole = false
    private var hasFinished = false
    private(set) var received: Int64 = 0

    /// Whether the final head was reported.
    var hasReportedHead: Bool { head != nil && !isHeld }
    /// Whether a 401 was received that is not reported yet, because its challenge may be answered.
    var mayBeChallenged: Bool { isHeld && holds.challenges && head?.response.status == .unauthorized }
    /// Whether the received head may be that of a proxy's tunnel.
    private var mayBeTunnels: Bool { isHeld && holds.tunnels }
    /// Whether URLSession decodes the body.
    var isDecoded: Bool { head?.response.decodedFrom.isEmpty == false }
    /// The received bytes of the body: of a complete one as sent by the server, if its length was announced.
    var bytesReceived: Int64 { hasFinished && received > 0 ? head?.encodedLength ?? received : received }
    /// The approximate size of the response's head in bytes.
    var headBytesReceived: Int64? { head.map { Int64($0.size) } }

    /// The heads that wait for what follows them.
    struct Holds {
        /// A 401 waits: if its challenge is answered, it is not reported.
        let challenges: Bool
        /// Every head waits: it may be a proxy's answer to CONNECT, which URLSession delivers like the origin's. It is dropped
        /// unless another head, a body or a successful end follows.
        let tunnels: Bool
    }

    init(_ hop: HTTPHop, holds: Holds) {
        request = hop.request
        limits = hop.options.limits
        self.holds = holds
    }

    // MARK: Events

    mutating func received(_ response: URLResponse) -> [Event] {
        latest = response
        guard let response = response as? HTTPURLResponse else { return [.failed(.badResponse)] }
        let head = ReceivedHead(response, to: request)
        let status = head.response.status
        if status.statusClass == .informational, status != .switchingProtocols {
            return [.informational(head.response)]
        }
        if head.size > limits.head { return [.failed(.headTooLarge(limit: limits.head))] }
        if head.fieldCount > limits.headFields {
            return [.failed(.tooManyFields(limit: limits.headFields))]
        }
        // A second head follows that of a tunnel, or a 401 whose challenge was answered.
        self.head = head
        (held, received) = ([], 0)
        isHeld = holds.tunnels || holds.challenges && status == .unauthorized
        if isHeld { return [] }
        return fault.map { [$0] } ?? [.head(head.response)]
    }

    mutating func received(_ data: Data) -> [Event] {
        guard let head else { return [.failed(.badResponse)] }
        // The connection changes to another protocol.
        if head.response.status == .switchingProtocols { return release() }
        received += Int64(data.count)
        guard isHeld else { return [.body(data)] }
        if mayBeChallenged {
            held.append(data)
            return [.withheld(received)]
        }
        return release() + [.body(data)]
    }

    /// The challenge is not answered: the 401 is delivered, whatever URLSession reports from now on.
    mutating func challengeIsDeclined() { isWhole = true }

    /// The request is repeated with a credential. The cookies of the 401 still count.
    mutating func challengeIsAnswered() -> [Event] {
        defer { (head, held, received, isHeld) = (nil, [], 0, false) }
        return head.map { [.informational($0.response)] } ?? []
    }

    /// The task has ended.
    ///
    /// - Parameters:
    ///   - response: The task's final response; URLSession delivers some only here.
    ///   - error: Why it failed, if it did.
    ///   - hasSent: Whether any part of the request's body was sent.
    /// - Returns: The events for the sink, the end last.
    mutating func completed(_ response: URLResponse?, _ error: (any Error)?, hasSent: Bool) -> [Event] {
        var events: [Event] = []
        if let error, !isWhole {
            if let failure = failureOfHead(error) { return [.failed(failure)] }
            let mayHaveArrived = hasSent || head != nil && !mayBeTunnels
            return [.failed(URLError.failure(error, mayHaveArrived: mayHaveArrived))]
        }
        if head == nil || mayBeTunnels, let response = response as? HTTPURLResponse, response !== latest,
            response.statusCode >= 200
        {
            // For a redirect without a target URLSession delivers the head late, and the body never.
            events += received(response)
            if case .failed = events.last { return events }
            if let head, !head.hasNoContent(for: request.method) {
                return events + [.failed(.transport(URLError(losingContentOf: head.response.status)))]
            }
        }
        guard let head else { return events + [.failed(.transport(URLError(.badServerResponse)))] }
        if let fault { return events + [fault] }
        events += release()
        if let length = head.length(for: request.method), length != received {
            return events + [.failed(.transport(URLError(.networkConnectionLost, truncatedAt: received, of: length)))]
        }
        hasFinished = true
        return events + [.finished]
    }

    /// The fault of the received head.
    private var fault: Event? {
        head?.fault(for: request.method).map { .failed(.transport(URLError($0))) }
    }

    /// The failure that URLSession's error means where the head is the cause and libcurl's message is not specific.
    private func failureOfHead(_ error: any Error) -> HTTPTransferFailure<URLError>? {
        guard let words = (error as? URLError)?.libcurlDescription else { return nil }
        guard let head else { return words.contains("Out of memory") ? limits.failureOfLongLine() : nil }
        guard words.contains("Unrecognized content encoding type"), !mayBeTunnels else { return nil }
        // `… libcurl understands deflate, gzip, br, zstd content encodings.` libcurl 8.18 lists none.
        let listed = words.split { !$0.isLetter }.map { $0.lowercased() } + ["x-gzip"]
        let known = words.contains("understands") ? listed : ["deflate", "gzip", "x-gzip", "br", "zstd"]
        return head.unknownCoding(to: known).map { .unknownCoding($0, head.response) }
    }

    private mutating func release() -> [Event] {
        guard isHeld, let head else { return [] }
        defer { (held, isHeld) = ([], false) }
        return [.head(head.response)] + held.map { .body($0) }
    }
}
