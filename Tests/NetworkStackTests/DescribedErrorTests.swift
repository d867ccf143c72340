import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("Descriptions of errors")
struct DescribedErrorTests {
    private typealias FetchError = HTTPFetchError<HTTP.Response, any Error>

    @Test("every public error has the same sentence as its description and its localized description")
    func localized() throws {
        let url = try #require(URL(string: "https://user:secret@host.test/path?token=secret#secret"))
        let response = HTTP.Response(status: 500, url: url)
        let context = HTTP.FetchContext(url: url.redactedDescription, attempt: 2)
        let errors: [any Error] = [
            FetchError.http(500, nil, response), FetchError.timedOut(.total, during: .waiting, context),
            FetchError.noData(200, response), FetchError.undecodable(CancellationError(), response),
            FetchError.localFile(FileError(path: "/nowhere", number: 2), context), FetchError.concurrentRead,
            FetchError.cancelled, FetchError.retry(.retries(2), Retry.State()), FetchError.shutDown,
            FetchAndDecodeError<FetchError>.fetch(.cancelled),
            FetchAndDecodeError<FetchError>.decode(LineTooLong(limit: 1)),
            HTTP.InvalidValue("It is not valid."), Network.ConfigurationError.invalid("It is not valid."),
            ServerTrustError.domainNotPinned(host: "host.test"), PinningPolicy.ValidationError.emptyPins,
            ServerTrustConfiguration.ValidationError.emptyPolicies,
            PublicKeyPinVerificationError.pinnedHashNotFound(chain: []),
            FileError(path: "/nowhere", number: 2), EmptyBodyError(), LineTooLong(limit: 1), EventTooLong(limit: 1),
            UnexpectedBodyError(expected: "text", count: 1), BodyLengthError(declared: 1, actual: 2),
            Retry.InvalidDelay(0), MockError.mockDataMissing(file: "file"),
        ]
        for error in errors {
            #expect(error.localizedDescription == "\(error)")
            #expect(!"\(error)".contains("secret"), "\(error)")
            #expect("\(error)".contains(" ") && !"\(error)".contains("error 1"), "\(type(of: error)): \(error)")
        }
        #expect("\(errors[0])".contains("https://host.test/path"))
        #expect("\(errors[1])".hasPrefix("The total timeout ran out while waiting. URL: https://host.test/path"))
    }

    @Test("a summary has no URL, as it is meant for logs")
    func summaries() {
        let context = HTTP.FetchContext(url: "http://host.test/path")
        let errors: [FetchError] = [
            .timedOut(.connect, during: .connecting, context), .bodyTooLarge(limit: 1, context),
            .tooManyRedirects(limit: 1, context), .decompressionRatio(limit: 1, context),
        ]
        for error in errors {
            #expect(error.description.contains("host.test"))
            #expect(!error.summary.contains("host.test"), "\(error.summary)")
        }
    }

    @Test("a truncated body of a failure is mentioned")
    func cut() throws {
        var response = HTTP.Response(status: 500, url: try #require(URL(string: "https://host.test/")))
        response.isErrorBodyCut = true
        #expect(FetchError.http(500, nil, response).description.contains("cut"))
    }

    @Test("a value that is missing in JSON is named by its path")
    func decoding() throws {
        struct Item: Decodable { var a: Int }
        struct List: Decodable { var items: [Item] }
        let response = HTTP.Response(status: 200, url: try #require(URL(string: "https://host.test/")))
        for (json, place) in [(#"{"items":[{"b":1}]}"#, ".items[0].a"), (#"{"items":[{"a":"x"}]}"#, ".items[0].a")] {
            do {
                _ = try JSONDecoder().decode(List.self, from: Data(json.utf8))
                Issue.record("It decoded.")
            } catch {
                #expect(FetchError.undecodable(error, response).description.contains(place))
            }
        }
    }

    @Test("no description quotes the body")
    func bodies() throws {
        enum Role: String, Codable { case reader }
        struct Account: Decodable { var role: Role }
        struct Problem: Error, Decodable { var title: String }
        struct Worded: Error, CustomStringConvertible { var description: String { "The account is closed." } }
        let response = HTTP.Response(status: 400, url: try #require(URL(string: "https://host.test/")))
        let body = Data(#"{"role":"s3cret","title":"s3cret"}"#.utf8)
        let problem = try JSONDecoder().decode(Problem.self, from: body)
        #expect(FetchError.http(400, problem, response).description.contains("status 400: Problem."))
        #expect(FetchError.http(400, Worded(), response).description.contains(": The account is closed."))
        do {
            _ = try JSONDecoder().decode(Account.self, from: body)
            Issue.record("It decoded.")
        } catch {
            for text in [
                FetchError.undecodable(error, response).description,
                FetchAndDecodeError<FetchError>.decode(error).description,
            ] {
                #expect(text.contains(".role") && !text.contains("s3cret"))
            }
        }
    }

    @Test("progress is reported at most ten times a second, and its last value always")
    func progress() {
        let seen = Lock<[Int64]>([])
        let limiter = ProgressLimiter { count, _ in seen.withLock { $0.append(count) } }
        let start = MonotonicTime.now
        for step in 0...250 { limiter.report(Int64(step), nil, now: start + .milliseconds(step)) }
        #expect(seen.withLock { $0 } == [0, 100, 200])
        limiter.finish()
        limiter.finish()
        #expect(seen.withLock { $0 } == [0, 100, 200, 250])
    }

    @Test("a reconnection waits twice as long each time, but not past its bound, and as the server asks")
    func reconnections() {
        let policy = EventReconnection(delay: .seconds(3), longestDelay: .seconds(10))
        #expect(
            [1, 2, 3, 4, 60].map { policy.delay(after: $0, retry: nil) } == [3, 6, 10, 10, 10].map { .seconds($0) }
        )
        #expect(policy.delay(after: 1, retry: .seconds(90)) == .seconds(90))
        #expect(policy.delay(after: 5, retry: .seconds(90)) == .seconds(90))
        #expect(policy.delay(after: 1, retry: .zero) == .zero)
        let endless = Duration.milliseconds(Int64.max)
        #expect([1, 40, 5000].map { policy.delay(after: $0, retry: endless) } == [endless, endless, endless])
        let patient = EventReconnection(delay: .seconds(1), longestDelay: endless)
        #expect(patient.delay(after: 1000, retry: nil) == endless)
    }

    @Test("a stream has lines, of limited length")
    func lines() async throws {
        func stream(_ text: String) -> ByteStream<FetchError> {
            let chunks = Lock(text.utf8.map { Data([$0]) })
            return ByteStream { chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        }
        var lines: [String] = []
        for try await line in stream("a\r\n\nbc\nd").lines(upTo: 2) { lines.append(line) }
        #expect(lines == ["a", "", "bc", "d"])
        do {
            for try await _ in stream("abc\n").lines(upTo: 2) {}
            Issue.record("The line is too long.")
        } catch {
            guard case .bodyTooLarge(limit: 2, _) = error else { throw error }
        }
    }

    @Test("an error has the number of attempts, its URL once, and another media type")
    func sentences() throws {
        let url = try #require(URL(string: "https://host.test/a"))
        let response = HTTP.Response(status: 200, headers: [.contentType: "text/html; charset=utf-8"], url: url)
        struct Unreadable: Error {}
        let undecodable = FetchError.undecodable(Unreadable(), response)
        #expect(undecodable.description.hasPrefix("The body of the response, text/html, cannot be decoded: Unreadable"))
        let failure = FetchError.http(503, nil, .init(status: 503, url: url))
        let given = FetchError.retry(.retries(1), .init(errors: [failure, failure])).description
        #expect(
            given
                == "Gave up after 2 attempts (1 retry at most): The response has the status 503. URL: https://host.test/a"
        )
    }

    @Test("a user's stream delivers what its closure returns")
    func unfolding() async throws {
        let chunks = Lock<[Data]>([Data("ab".utf8), Data(), Data("c".utf8)])
        let stream = ByteStream<FetchError> { chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        #expect(try await stream.collect() == Data("abc".utf8))
        let ended = Lock(0)
        let over = ByteStream<FetchError> {
            ended.withLock { $0 += 1 }
            return nil
        }
        for _ in 1...3 { #expect(try await over.collect().isEmpty) }
        #expect(ended.withLock { $0 } == 1)
        let whole = ByteStream<FetchError>(Data("xyz".utf8))
        var bytes: [UInt8] = []
        for try await byte in whole.bytes { bytes.append(byte) }
        #expect(bytes == Array("xyz".utf8))
    }
}
