import Testing

@testable import CurlStack

@Suite("TLSRecord")
struct TLSRecordTests {
    /// OpenSSL's numbers: an alert (0x4000) that was read (4) or written (8); its level, and its description.
    @Test(
        "treats close_notify, and no other alert, as a clean end",
        arguments: [
            (0x4004, 0x0100, true), (0x4004, 0x0200, true), (0x4004, 0x015A, false), (0x4004, 0x0228, false),
            (0x4008, 0x0100, false), (0x0020, 0x0001, false), (0x1002, 0x0100, false),
        ] as [(event: Int32, value: Int32, isEnd: Bool)]
    )
    func closeNotify(event: Int32, value: Int32, isEnd: Bool) {
        #expect(TLSRecord.isCloseNotify(event, value) == isEnd)
    }
}
