import Testing

@testable import CurlStack

@Suite("Lines for libcurl")
struct TextListTests {
    @Test("are put behind each other in no time, however many there are")
    func many() {
        let lines = (0..<60_000).map { "X-\($0): value" }
        #expect(ContinuousClock().measure { _ = TextList(lines) } < .seconds(2))
    }
}
