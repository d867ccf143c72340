import CCurl
import Glibc
import Testing

@testable import CurlStack

@Suite("OpenSockets")
struct OpenSocketsTests {
    /// A socket of its own at an address; several may share it.
    private func socket(port: UInt16 = 0) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var (one, size) = (Int32(1), socklen_t(MemoryLayout<sockaddr_in>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isBound)
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    @Test("connections of one local port to two servers are two, whatever their ports")
    func collisions() throws {
        let (first, port) = try socket()
        let (second, _) = try socket(port: port)
        defer {
            close(first)
            close(second)
        }
        func ends(_ server: String) -> OpenSockets.Ends {
            .init(local: ConnectionEnd("127.0.0.1", port: Int32(port)), remote: ConnectionEnd(server, port: 443))
        }
        let (one, other) = (ends("127.0.0.2"), ends("127.0.0.3"))
        let sockets = OpenSockets()
        #expect(sockets.note([first], at: one).isEmpty)
        #expect(sockets.note([second], at: other).isEmpty)
        sockets.goingAway(GoAway(lastStream: 1, code: 0), at: one)
        #expect(sockets.lastStream(at: one) == 1)
        #expect(sockets.lastStream(at: other) == nil)
        sockets.closed(first)
        #expect(sockets.isClosed(one))
        sockets.forgetClosed()
        #expect(!sockets.isClosed(one))
        #expect(sockets.descriptor(at: other) == second)
        #expect(sockets.descriptor(at: one) == nil)
    }

    @Test(
        "an end is known by its address and its port",
        arguments: [
            ("127.0.0.1", "127.0.0.2"), ("::1", "::2"), ("fe80::1", "fe80:1::1"), ("127.0.0.1", "7f00:1::"),
            ("255.255.255.254", "255.255.255.255"), ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1:2:3:4:6"),
            ("2001:db8::11:2222", "2001:db8::11:2223"), ("2001:db8::1:2222", "2001:db8::1:2223"),
        ]
    )
    func endpoints(_ one: String, _ other: String) {
        #expect(ConnectionEnd(one, port: 1) == ConnectionEnd(one, port: 1))
        #expect(ConnectionEnd(one, port: 1) != ConnectionEnd(other, port: 1))
        #expect(ConnectionEnd(one, port: 1) != ConnectionEnd(one, port: 2))
    }
}
