import CCurl
import Foundation
import Testing

@testable import CurlStack

@Suite("Bytes received from libcurl")
struct ByteBufferTests {
    private func taken(_ count: Int, expecting expected: Int) -> (Data, room: Int) {
        let (buffer, bytes) = (ByteBuffer(), [UInt8](repeating: 7, count: count))
        let isThere = buffer.append(bytes.span, expecting: expected)
        #expect(isThere)
        let data = buffer.take()
        let room = data.withUnsafeBytes { malloc_usable_size(UnsafeMutableRawPointer(mutating: $0.baseAddress)) }
        return (data, room)
    }

    @Test("are delivered without unused capacity if that is most of the buffer")
    func room() {
        let (few, room) = taken(100, expecting: 128 << 10)
        #expect(few == Data(repeating: 7, count: 100))
        #expect(room < 4096)
        let (many, sameRoom) = taken(100 << 10, expecting: 128 << 10)
        #expect(many.count == 100 << 10)
        #expect(sameRoom >= 128 << 10)
    }
}
