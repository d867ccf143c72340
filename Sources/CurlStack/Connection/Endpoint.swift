internal import Glibc

/// The two ends of a connection, of which no two open connections have the same.
///
/// A Unix socket has no addresses: libcurl's number of the connection stands for one end, and its pool's slot for the other.
struct EndpointPair: Hashable {
    let local: Endpoint
    let remote: Endpoint

    /// The ends of a connection over a network.
    init(local: Endpoint, remote: Endpoint) { (self.local, self.remote) = (local, remote) }

    /// The ends of a connection over a Unix socket.
    init(number: UInt32, slot: Int) {
        (local, remote) = (Endpoint(ofUnixSocket: UInt64(number)), Endpoint(ofUnixSocket: UInt64(slot)))
    }

    var areOfUnixSocket: Bool { local.isOfUnixSocket }
}

/// One end of a connection: an address and a port.
struct Endpoint: Hashable {
    /// An address as two integers. A SIMD vector would raise the alignment of every transfer.
    private struct Address: Hashable {
        var start: UInt64 = 0
        var rest: UInt64 = 0
    }

    private enum Form {
        case none
        case text
        case bytes
        case unixSocket
    }

    private var form = Form.none
    /// The text of an IPv4 address, of which there is but one: it fits as it is, and need not be read for every request. The bytes
    /// of an IPv6 address, which can be written in several ways.
    private var address = Address()
    private let port: UInt16

    /// Takes what libcurl reports of an end.
    init(_ text: UnsafePointer<CChar>?, port: Int32) {
        self.port = UInt16(clamping: port)
        guard let text = unsafe text else { return }
        let length = unsafe strnlen(text, MemoryLayout<Address>.size)
        let isOfIPv6 = unsafe memchr(text, Int32(UInt8(ascii: ":")), length) != nil
        form = unsafe withUnsafeMutableBytes(of: &address) { place in
            guard isOfIPv6 || length == place.count else {
                unsafe place.copyMemory(from: UnsafeRawBufferPointer(start: text, count: length))
                return .text
            }
            return unsafe inet_pton(AF_INET6, text, place.baseAddress) == 1 ? .bytes : .none
        }
    }

    /// Stands for an end of a connection over a Unix socket.
    init(ofUnixSocket number: UInt64) {
        form = .unixSocket
        address.start = number
        port = 0
    }

    /// Feeds what distinguishes ends to a hasher in one piece.
    func hash(into hasher: inout Hasher) { hasher.combine(address.start ^ address.rest ^ UInt64(port) << 48) }

    var isOfUnixSocket: Bool { form == .unixSocket }

    /// The address, in the form that libcurl has for it; `nil` without one.
    var text: String? {
        switch form {
        case .none, .unixSocket: nil
        case .text:
            unsafe withUnsafeBytes(of: address) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        case .bytes:
            unsafe withUnsafeBytes(of: address) { bytes in
                var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
                unsafe inet_ntop(AF_INET6, bytes.baseAddress, &text, socklen_t(text.count))
                return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
    }

    /// The port; `nil` without an address.
    var knownPort: Int? { form == .none || isOfUnixSocket ? nil : Int(port) }

    /// Asks the system for a socket's local end, or `nil` if it has no IP address.
    init?(localOf descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else { return nil }
        let family = Int32(storage.ss_family)
        let start: Int
        switch family {
        case AF_INET: start = 4
        case AF_INET6: start = 8
        default: return nil
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let port = unsafe withUnsafeBytes(of: &storage) { bytes in
            unsafe inet_ntop(family, bytes.baseAddress.map { unsafe $0 + start }, &text, socklen_t(text.count))
            // It stands at the same place for both families.
            return unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
        unsafe self.init(text, port: Int32(port))
    }
}
