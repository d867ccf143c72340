import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("A retry budget")
struct RetryBudgetTests {
    private func origin(_ host: String) throws -> HTTP.Origin {
        try HTTP.Origin(of: try #require(URL(string: "http://\(host)/")))
    }

    @Test("Retries cost one each, and requests pay in their share, per host")
    func balance() throws {
        let (budget, first, second) = (Retry.Budget(ratio: 0.5, reserve: 2), try origin("a.test"), try origin("b.test"))
        #expect(budget.withdraw(for: first) && budget.withdraw(for: first))
        #expect(!budget.withdraw(for: first))
        budget.deposit(for: first)
        #expect(!budget.withdraw(for: first))
        budget.deposit(for: first)
        #expect(budget.withdraw(for: first))
        #expect(budget.balance(of: first) == 0)
        #expect(budget.balance(of: second) == 2)
        for _ in 1...1000 { budget.deposit(for: second) }
        #expect(budget.balance(of: second) == 20)
    }

    @Test("With nothing in it, nothing is granted")
    func empty() throws {
        let (budget, host) = (Retry.Budget(ratio: 0, reserve: 0), try origin("a.test"))
        for _ in 1...100 { budget.deposit(for: host) }
        #expect(!budget.withdraw(for: host))
        #expect(!Retry.Budget(ratio: .nan, reserve: -1).withdraw(for: host))
    }

    @Test("Many hosts make it forget those that spent nothing, and then grant nothing, rather than grow")
    func bounded() throws {
        let budget = Retry.Budget(ratio: 0, reserve: 1)
        for number in 0..<1500 { budget.deposit(for: try origin("idle\(number).test")) }
        var granted = 0
        for number in 0..<1500 where budget.withdraw(for: try origin("busy\(number).test")) { granted += 1 }
        #expect(granted == 1024)
    }

    @Test("A policy's retries are paid for by first attempts, and refused beyond that")
    func policy() throws {
        let budget = Retry.Budget(ratio: 0.5, reserve: 0)
        let policy = HTTPRetryPolicy.maxRetries(5).within(budget)
        let request = try HTTP.Request(url: "http://a.test/")
        struct Failure: Error {}
        func fail(after failures: Int) -> String {
            policy.interceptFailedTask(
                withIdentifier: 1,
                request: request,
                data: nil,
                response: nil,
                error: Failure(),
                retryState: .after(failures)
            ).words
        }
        for _ in 1...4 { policy.interceptScheduledTask(withIdentifier: 1, request: request, retryState: .init()) }
        // Retries pay nothing in.
        for _ in 1...4 { policy.interceptScheduledTask(withIdentifier: 1, request: request, retryState: .after(1)) }
        #expect([fail(after: 0), fail(after: 1)] == ["retry", "retry"])
        #expect(fail(after: 2) == "no retry: The retries granted to http://a.test are spent.")
        #expect(fail(after: 5) == "no retry: 5 retries")
        let silent = HTTPRetryPolicy.custom { _, _, _ in .none }.within(budget)
        let vote = silent.interceptFailedTask(
            withIdentifier: 1,
            request: request,
            data: nil,
            response: nil,
            error: Failure(),
            retryState: .init()
        )
        #expect(vote.words == "none", "a failure nobody wants to retry keeps its error")
    }
}
