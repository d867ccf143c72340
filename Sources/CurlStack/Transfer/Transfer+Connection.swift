internal import CCurl
internal import NetworkStack

extension Transfer {
    /// libcurl has no use for a socket any more. If nothing was connected by it, there may be another address to connect to.
    func lostSocket() {
        if phase == .connecting { turn.retryingConnect.append((self, nil)) }
    }

    /// Whether something will come of a socket that the transfer has opened.
    func isWatched(_ socket: Int32?) -> Bool {
        guard let socket, let easy else { return false }
        return turn.connections.isOpen(socket, for: id) && easy.multi.isWatched(socket)
    }

    /// Whether the transfer has a connection that it does not share. One that opens a connection in advance has no stream.
    var isAloneOnConnection: Bool { attempt.isConnected && !attempt.speaksHTTP2 }

    /// Whether the transfer is a stream of this connection.
    func shares(_ connection: Connection?) -> Bool { attempt.stream != nil && attempt.connection === connection }

    /// Whether libcurl has still to choose a connection for the transfer, and may choose that of another, which is a stream's.
    func isAboutToJoin(_ other: Transfer) -> Bool {
        hostQueue === other.hostQueue && easy != nil && !attempt.isConnected
    }

    /// Takes a line of libcurl's verbose text (``DebugText``).
    func read(debugText text: Span<UInt8>) {
        let readsConnections = easy?.settings.namesConnections ?? false
        guard readsConnections || attempt.connection != nil, let note = DebugText(text) else { return }
        switch note {
        case .connection(let number) where readsConnections:
            attempt.unixEndpoints = EndpointPair(number: number, pool: place.slot ?? 0)
        case .connection: break
        case .retry: attempt.isBetweenConnections = true
        // While libcurl looks for another connection, the text is about whichever connection it looks at.
        case .goAway(let goAway):
            if !attempt.isBetweenConnections { attempt.connection?.goAway = goAway }
        }
    }
}
