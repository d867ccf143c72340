import Foundation
import NetworkStack
import NetworkStackTesting
import Testing

@testable import NetworkStackConformance

/// A check with short timeouts runs again with longer ones only if its failure may be the machine's.
@Suite("A check with short timeouts")
struct ScaledCheckTests {
    @Test(
        "is repeated with longer ones after a timeout before the response",
        arguments: [HTTP.Phase.connecting, .waiting]
    )
    func repeats(phase: HTTP.Phase) async {
        #expect(await scales(of: timedOut(during: phase)) == [1, 3, 9, 27])
    }

    @Test("fails at once after a timeout during the response, or without a timeout")
    func failsAtOnce() async {
        let stall = Stall()
        let (late, failed) = (timedOut(during: .receiving), Outcome.failure(.badResponse(nil)))
        let seen = [await scales(of: late), await scales(of: failed)]
        #expect(seen == [[1], [1]] || stall.chainAllowance > .milliseconds(100))
    }

    @Test("sees what a hypervisor took from each processor")
    func readsStolenTime() {
        let statistics = """
            cpu  75 88 72 216 19 0 45 77 0 0
            cpu0 37 45 35 115 39 0 22 38 0 0
            cpu1 38 43 37 100 15 0 23 39 0 0
            intr 100 9 9 9 9 9 9 9 9
            """
        #expect(ProcessorWait.stolen(in: statistics) == ["cpu0": 380_000_000, "cpu1": 390_000_000])
        #expect(ProcessorWait.stolen(in: "cpu0 1 2 3").isEmpty)
    }

    private typealias Outcome =
        Result<Network.Value<Data, HTTP.Response>, HTTPFetchError<HTTP.Response, any Error>>

    private func timedOut(during phase: HTTP.Phase) -> Outcome {
        .failure(.timedOut(.total, during: phase))
    }

    /// The scales at which a check that expects a success runs, if this is what it sees.
    private func scales(of outcome: Outcome) async -> [Int] {
        let seen = Lock<[Int]>([])
        let check = ConformanceCheck("Succeeds") { _, scale in
            seen.withLock { $0.append(scale) }
            try outcome.value()
        }
        await #expect(throws: ConformanceFailure.self) { try await check.run(Lie.all[0].subject) }
        return seen.withLock { $0 }
    }
}
