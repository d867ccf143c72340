internal import CCurl
internal import NetworkStack

/// Where connections lead and where they come from, if the configuration has options for that: worked out once per pool.
struct AddressPlan {
    private typealias Addresses = Network.Configuration.Addresses

    private let addresses: Network.Configuration.Addresses
    /// Whether a connection is of no use after its transfer: libcurl 7.88 takes one over an abstract socket for one that is
    /// still being looked up, whenever it is asked for it again.
    let usesConnectionsOnce: Bool
    private let overrides: TextList
    private let reroutes: TextList

    /// Works a plan out.
    init(_ addresses: Network.Configuration.Addresses) {
        self.addresses = addresses
        usesConnectionsOnce = if case .abstract = addresses.unixSocket { true } else { false }
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
        switch addresses.family {
        case .any: break
        case .ipv4: try easy.set(CURLOPT_IPRESOLVE, shim_resolve_ipv4)
        case .ipv6: try easy.set(CURLOPT_IPRESOLVE, shim_resolve_ipv6)
        }
        if addresses.happyEyeballsDelay != Addresses().happyEyeballsDelay {
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
