internal import NetworkStack

/// Whose handshakes a transfer may see: its origin's and, if the way there leads through a proxy that speaks TLS, the proxy's.
/// Each is held to its own policy.
struct TLSPeers {
    /// One of them.
    struct Peer {
        /// What the client calls it in the handshake (SNI, RFC 6066 section 3); addresses have no name there.
        let serverName: String?
        /// The server, if its keys are pinned.
        let server: PinnedServer?

        /// The server, if its keys must match.
        var pinned: PinnedServer? { server.flatMap { $0.isEnforced ? $0 : nil } }
        /// The server, if keys that do not match are only reported.
        var reported: PinnedServer? { server.flatMap { $0.isEnforced ? nil : $0 } }
    }

    let origin: Peer
    let proxy: Peer?

    /// Whether keys are pinned.
    var arePinned: Bool { origin.pinned != nil || proxy?.pinned != nil }

    /// What the peer of a handshake under a name must prove. Where it could be either peer, or neither, it must prove both.
    func pinned(named name: String?) -> [PinnedServer] {
        let all = [origin, proxy].compactMap(\.self)
        let peers = all.filter { $0.serverName == name }
        let pinned = (peers.isEmpty ? all : peers).compactMap(\.pinned)
        // Both on one host are held to one policy.
        return pinned.count == 2 && pinned[0].host == pinned[1].host ? [pinned[0]] : pinned
    }
}
