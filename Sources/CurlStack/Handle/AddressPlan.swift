internal import CCurl
internal import NetworkStack

/// Where connections lead and where they come from, as libcurl takes it: worked out once per pool.
struct AddressPlan {
    private typealias Addresses = Network.Configuration.Addresses

    private let addresses: Network.Configuration.Addresses
    /// How old the addresses of a name may be, in seconds.
    let age: Int
    /// Whether a connection is of no use after its transfer: libcurl 7.88 takes one over an abstract socket for one that is
    /// still being looked up, whenever it is asked for it again.
    let usesConnectionsOnce: Bool
    private let overrides: TextList
    private let reroutes: TextList

    /// Works a plan out.
    init(_ addresses: Network.Configuration.Addresses) {
        self.addresses = addresses
        usesConnectionsOnce = if case .abstract = addresses.unixSocket { true } else { false }
        let (seconds, rest) = addresses.dnsCacheAge.parts
        age = Int(clamping: min(seconds + (rest > 0 ? 1 : 0), 1 << 31 - 1))
        let overrides = addresses.hostOverrides.flatMap { override in
            let list = override.addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
            return Self.spellings(of: override.host).map { "\($0):\(override.port):\(list)" }
        }
        let reroutes = addresses.reroutes.flatMap { reroute in
            func text(_ port: Int?) -> String { port.map { "\($0)" } ?? "" }
            let target = "\(reroute.toHost ?? ""):\(text(reroute.toPort))"
            return Self.spellings(of: reroute.host ?? "").map { "\($0):\(text(reroute.port)):\(target)" }
        }
        self.overrides = TextList(overrides)
        self.reroutes = TextList(reroutes)
    }

    /// A host as URLs may name it: libcurl compares letters, and a dot at the end is no other host.
    private static func spellings(of host: String) -> [String] {
        host.isEmpty || host == "*" || host.hasPrefix("[") ? [host] : [host, host + "."]
    }

    /// Sets what differs from libcurl's defaults on a new handle.
    func apply(to easy: EasyHandle) throws(RefusedOption) {
        let standard = Addresses()
        guard addresses != standard else { return }
        switch addresses.family {
        case .any: break
        case .ipv4: try easy.set(CURLOPT_IPRESOLVE, shim_resolve_ipv4)
        case .ipv6: try easy.set(CURLOPT_IPRESOLVE, shim_resolve_ipv6)
        }
        if addresses.happyEyeballsDelay != standard.happyEyeballsDelay {
            let delay = TransferPlan.milliseconds(addresses.happyEyeballsDelay)
            try easy.set(CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, delay)
        }
        if !addresses.hostOverrides.isEmpty { try easy.keep(overrides, as: CURLOPT_RESOLVE) }
        if !addresses.reroutes.isEmpty { try easy.keep(reroutes, as: CURLOPT_CONNECT_TO) }
        switch addresses.unixSocket {
        case .path(let path): try easy.set(CURLOPT_UNIX_SOCKET_PATH, path)
        case .abstract(let name): try easy.set(CURLOPT_ABSTRACT_UNIX_SOCKET, name)
        case nil: break
        }
        if addresses.unixSocket != nil { try easy.nameConnections() }
        if let interface = addresses.interface { try easy.set(CURLOPT_INTERFACE, "if!\(interface)") }
        if let address = addresses.localAddress {
            let text = address.hasPrefix("[") ? String(address.dropFirst().dropLast()) : address
            try easy.set(CURLOPT_INTERFACE, "host!\(text)")
        }
        if let ports = addresses.localPorts {
            try easy.set(CURLOPT_LOCALPORT, ports.lowerBound)
            try easy.set(CURLOPT_LOCALPORTRANGE, ports.count)
        }
    }
}

/// How old the addresses of a name may be, transfer by transfer.
///
/// With an age set, libcurl walks its whole table of names after each transfer that was alone on its connection, which is 2 % of a small
/// request. So, unless the age is short, one transfer in 15 seconds has an age, and removes old addresses for the others.
final class AddressAge {
    /// Any age will do.
    static let any = -1
    /// How many seconds addresses are not checked.
    private static let rest = 15

    private let seconds: Int
    private let mayRest: Bool
    private var thrownOutAt: MonotonicTime?

    /// Makes a rule by which no address is used that is older than some seconds.
    ///
    /// - Parameters:
    ///   - seconds: How old.
    ///   - mayRest: Whether any age may be set (not with ``LibcurlQuirks/forgottenAddresses``).
    init(seconds: Int, mayRest: Bool) {
        self.seconds = seconds
        self.mayRest = mayRest && seconds >= 4 * Self.rest
    }

    /// The age to set for a transfer that begins now, in seconds.
    func next(at now: MonotonicTime) -> Int {
        guard mayRest else { return seconds }
        if let thrownOutAt, now - thrownOutAt < .seconds(Self.rest) { return Self.any }
        return seconds - Self.rest
    }

    /// A transfer has ended, which may be long after it began.
    ///
    /// - Parameters:
    ///   - age: The age that was set for it.
    ///   - aloneOnConnection: Whether it had a connection, and did not share it.
    ///   - now: The moment.
    func ended(with age: Int?, aloneOnConnection: Bool, at now: @autoclosure () -> MonotonicTime) {
        if age != Self.any, aloneOnConnection { thrownOutAt = now() }
    }
}
