import NetworkStackTesting
import Testing

/// A share of what `make histories` runs.
@Suite("CurlStack in random histories")
struct CurlHistoriesTests {
    @Test("the connection queue leaks no place, and delays nothing while there is room")
    func queue() throws { #expect(try QueueHistory.runShare(steps: 10_000) > 0) }

    @Test("a transfer delivers its body in order, and ends with one verdict")
    func transfers() throws { #expect(try TransferHistory.runShare(steps: 10_000) > 0) }

    @Test("a reader delivers each body in order and no more than the limit, and releases it")
    func readers() throws { #expect(try ResponseReaderHistory.runShare(steps: 10_000) > 0) }
}
