import Dispatch
import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("A retry budget")
struct RetryBudgetTests {
    private func origin(_ host: String) throws -> HTTP.Origin {
        try HTTP.Origin(of: try #require(URL(string: "http://\(host)/")))
    }

    @Test("Each retry costs one, and each request adds its share, per host")
    func balance() throws {
        let (budget, first, second) = (Retry.Budget(ratio: 0.5, reserve: 2), try origin("a.test"), try origin("b.test"))
        #expect(budget.withdraw(from: first))
        #expect(budget.balance(of: first) == 1)
        #expect(budget.withdraw(from: first))
        #expect(!budget.withdraw(from: first))
        budget.deposit(for: first)
        #expect(!budget.withdraw(from: first))
        budget.deposit(for: first)
        #expect(budget.withdraw(from: first))
        #expect(budget.balance(of: first) == 0)
        #expect(budget.balance(of: second) == 2)
        for _ in 1...1000 { budget.deposit(for: second) }
        #expect(budget.balance(of: second) == 20)
    }

    @Test("An empty budget grants nothing")
    func empty() throws {
        let (budget, host) = (Retry.Budget(ratio: 0, reserve: 0), try origin("a.test"))
        for _ in 1...100 { budget.deposit(for: host) }
        #expect(!budget.withdraw(from: host))
        #expect(!Retry.Budget(ratio: .nan, reserve: -1).withdraw(from: host))
    }

    @Test("With many hosts, the longest unused are dropped, and each host can be added")
    func bounded() throws {
        let budget = Retry.Budget(ratio: 0, reserve: 1)
        func spend(_ host: String) throws -> Bool {
            budget.withdraw(from: try origin(host))
        }
        var granted = 0
        for number in 0..<5000 where try spend("busy\(number).test") { granted += 1 }
        #expect(granted == 5000)
        #expect(try budget.balance(of: origin("busy4999.test")) == 0 && budget.balance(of: origin("busy0.test")) == 1)
        let spent = try (0..<5000).count { try budget.balance(of: origin("busy\($0).test")) == 0 }
        #expect((512...Retry.Budget.hostLimit).contains(spent), "\(spent) hosts are remembered")
        #expect(try spend("old.test"))
        for number in 0..<5000 {
            _ = try spend("other\(number).test")
            if number % 100 == 0 { #expect(try !spend("old.test"), "the host remains in use") }
        }
    }

    @Test("Retries requested by several threads at once never exceed the balance")
    func threads() throws {
        let host = try origin("a.test")
        for round in 1...500 {
            let (budget, granted) = (Retry.Budget(ratio: 0, reserve: 20), Lock(0))
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                let count = (1...20).count { _ in budget.withdraw(from: host) }
                granted.withLock { $0 += count }
            }
            try #require(granted.withLock { $0 } == 20, "round \(round)")
        }
    }

    @Test("A final failure costs nothing")
    func final() throws {
        let budget = Retry.Budget(ratio: 0, reserve: 1)
        let policy = HTTPRetryPolicy.maxRetries(5).within(budget)
        let request = try HTTP.Request(url: "http://a.test/")
        typealias FetchError = HTTPFetchError<HTTP.Response, any Error>
        let final: [FetchError] = [
            .cancelled, .timedOut(.total, during: .waiting),
            .untrusted(.domainNotPinned(host: "a.test")), .shutDown, .bodyNotReplayable(),
            .invalidRequest("It makes no sense."),
        ]
        func vote(_ policy: Retry.BudgetedPolicy<Retry.Metadata<HTTP.Request, HTTP.Response>>, on error: FetchError)
            -> String
        {
            policy.interceptFailedTask(
                withIdentifier: 1,
                request: request,
                data: nil,
                response: nil,
                error: error,
                retryState: .init()
            )
            .summary
        }
        let failure = FetchError.http(503, nil, .init(status: 503, url: request.url))
        // An invalid delay ends the fetch.
        for delay in [.nan, .infinity, -1] as [Double] {
            let endless = HTTPRetryPolicy.custom { _, _, _ in .retryAfter(delay) }.within(budget)
            #expect(vote(endless, on: failure).hasPrefix("retry after"))
        }
        for error in final + [failure] { #expect(vote(policy, on: error) == "retry", "\(error)") }
        #expect(vote(policy, on: failure).hasPrefix("no retry"))
    }

    @Test("First attempts fund a policy's retries, which are refused beyond that")
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
            ).summary
        }
        for _ in 1...4 { policy.interceptScheduledTask(withIdentifier: 1, request: request, retryState: .init()) }
        // Retries add nothing to the budget.
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
        #expect(vote.summary == "none", "a failure without a vote for a retry keeps its error")
    }
}
