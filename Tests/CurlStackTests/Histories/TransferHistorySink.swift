import FoundationEssentials
import NetworkStackTesting

@testable import CurlStack
@testable import NetworkStack

/// Records what a transfer reports, and what is wrong with its order.
final class TransferHistorySink: HTTPTransferSink {
    enum Verdict {
        case finished
        case failed(HTTPTransferFailure<CurlError>)
    }

    struct Record {
        var informational: [Int] = []
        var head: HTTP.Response?
        var body = Data()
        var withheld: Int64 = 0
        var trailers: HTTP.Headers?
        var verdicts: [Verdict] = []
        var isHoldingBack = false
        var fault: String?
    }

    private let record = Lock(Record())
    private let random: Lock<SeededRandom>

    init(seed: UInt64) { random = Lock(SeededRandom(seed: ~seed)) }

    var now: Record { record.withLock { $0 } }

    /// The receiver resumes.
    func resume() { record.withLock { $0.isHoldingBack = false } }

    /// The request is sent again: informational heads come again.
    func startOver() { record.withLock { $0.informational = [] } }

    private func note(_ event: (inout Record) -> String?) {
        record.withLock { record in
            let isLate = !record.verdicts.isEmpty
            let fault = event(&record)
            record.fault = record.fault ?? (isLate ? "Nothing is reported after the end." : fault)
        }
    }

    func entered(_ phase: HTTP.Phase) { note { _ in nil } }
    func sent(_ total: Int64) { note { _ in nil } }

    func informational(_ response: HTTP.Response) {
        note { record in
            record.informational.append(response.status.rawValue)
            return record.head == nil ? nil : "An informational head comes before the final one."
        }
    }

    func head(_ response: HTTP.Response) {
        note { record in
            defer { record.head = response }
            return record.head == nil ? nil : "A final head is reported once."
        }
    }

    func body(_ chunk: Data) -> Bool {
        let hasRoom = random.withLock { !$0.chance(4) }
        note { record in
            record.body += chunk
            defer { record.isHoldingBack = !hasRoom }
            if record.isHoldingBack { return "No body is delivered while the receiver pauses." }
            return record.head == nil ? "A head is reported before its body." : nil
        }
        return hasRoom
    }

    func withheld(_ count: Int64) {
        note { record in
            defer { record.withheld = max(record.withheld, count) }
            return count == 0 || count >= record.withheld ? nil : "The count of withheld bytes never falls."
        }
    }

    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        note { record in
            record.verdicts.append(.finished)
            record.trailers = trailers
            return record.head == nil ? "A head is reported before the end." : nil
        }
    }

    func finished(_ response: HTTP.Response, body: Data, trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        head(response)
        note { record in
            record.body += body
            return nil
        }
        finished(trailers: trailers, metrics: metrics)
    }

    func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) {
        note { record in
            record.verdicts.append(.failed(failure))
            return nil
        }
    }
}
