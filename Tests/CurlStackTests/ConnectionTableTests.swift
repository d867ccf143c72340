import CCurl
import Glibc
import Testing

@testable import CurlStack

@Suite("ConnectionTable")
struct ConnectionTableTests {
    /// A socket at an address, which several may share.
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

    @Test("distinguishes connections of one local port to two servers")
    func collisions() throws {
        let (first, port) = try socket()
        let (second, _) = try socket(port: port)
        defer {
            close(first)
            close(second)
        }
        func endpoints(_ server: String) -> EndpointPair {
            .init(local: Endpoint("127.0.0.1", port: Int(port)), remote: Endpoint(server, port: 443))
        }
        let (one, other) = (endpoints("127.0.0.2"), endpoints("127.0.0.3"))
        let table = ConnectionTable()
        let (connection, rest) = table.add([first], at: one)
        #expect(rest.isEmpty && table.add([second], at: other).others.isEmpty)
        connection.ends(by: GoAway(lastStream: 1, code: 0))
        #expect(table[one]?.lastStream == 1 && table[other]?.lastStream == nil)
        #expect(table[descriptor: first] === connection && table[descriptor: second] === table[other])
        table.closed(first)
        #expect(connection.isClosed && connection.descriptor == nil && connection.lastStream == 1)
        #expect(table[one] == nil && table[descriptor: first] == nil)
        #expect(table[other]?.descriptor == second)
    }

    @Test("keeps the connection that took the endpoints of one that closes later")
    func successor() throws {
        let (first, port) = try socket()
        let (second, _) = try socket(port: port)
        defer {
            close(first)
            close(second)
        }
        let endpoints = EndpointPair(
            local: Endpoint("127.0.0.1", port: Int(port)),
            remote: Endpoint("127.0.0.2", port: 443)
        )
        let table = ConnectionTable()
        _ = table.add([first], at: endpoints)
        let successor = table.add([second], at: endpoints).connection
        table.closed(first)
        #expect(table[endpoints] === successor && !successor.isClosed)
    }

    @Test("has one connection for endpoints with an unknown socket")
    func unlisted() {
        let table = ConnectionTable()
        let endpoints = EndpointPair(number: 1, slot: 0)
        let connection = table.withoutSocket(at: endpoints)
        #expect(table.withoutSocket(at: endpoints) === connection)
        #expect(table.withoutSocket(at: EndpointPair(number: 2, slot: 0)) !== connection)
        #expect(connection.openStream() == .max && connection.descriptor == nil && connection.isWritable)
        #expect(table.add([], at: EndpointPair(number: 2, slot: 0)).others.isEmpty)
        // Without its number, a connection is not taken for another.
        let none = Endpoint(nil, port: 0)
        #expect(EndpointPair(number: 0, slot: 0) != EndpointPair(local: none, remote: none))
        // It may be another connection's.
        connection.ends(by: GoAway(lastStream: 1, code: 0))
        #expect(connection.lastStream == nil)
    }

    @Test(
        "identifies an endpoint by its address and its port",
        arguments: [
            ("127.0.0.1", "127.0.0.2"), ("::1", "::2"), ("fe80::1", "fe80:1::1"), ("127.0.0.1", "7f00:1::"),
            ("255.255.255.254", "255.255.255.255"), ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1:2:3:4:6"),
            ("2001:db8::11:2222", "2001:db8::11:2223"), ("2001:db8::1:2222", "2001:db8::1:2223"),
        ]
    )
    func endpoints(_ one: String, _ other: String) {
        #expect(Endpoint(one, port: 1) == Endpoint(one, port: 1))
        #expect(Endpoint(one, port: 1) != Endpoint(other, port: 1))
        #expect(Endpoint(one, port: 1) != Endpoint(one, port: 2))
    }
}
