import FoundationEssentials
import NetworkStack
import NetworkStackTesting

@testable import CurlStack

/// Records how a hop ends.
final class EndSink: HTTPTransferSink {
    let ended = Gate()
    let failure = Lock<HTTPTransferFailure<CurlError>?>(nil)

    func entered(_ phase: HTTP.Phase) {}
    func informational(_ response: HTTP.Response) {}
    func head(_ response: HTTP.Response) {}
    func body(_ chunk: Data) -> Bool { true }
    func withheld(_ count: Int64) {}
    func sent(_ total: Int64) {}
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) { ended.open() }

    func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) {
        self.failure.withLock { $0 = failure }
        ended.open()
    }
}
