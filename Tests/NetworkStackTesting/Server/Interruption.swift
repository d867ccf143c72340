extension ScriptedServer {
    /// Why a connection's script cannot go on.
    ///
    /// Thrown by the connection's calls; let it pass in `Step.run`.
    public enum Interruption: Error, Sendable, Equatable, CustomStringConvertible {
        /// The peer ended its sending half.
        case closedByPeer
        /// The peer reset the connection.
        case resetByPeer
        /// The script itself has closed the connection.
        case closedByScript
        /// `stop()` was called.
        case stopped
        /// Nothing happened for as long as the options' patience, or the step's own bound, allows.
        case timedOut(String)
        /// What the peer sent is not what the step needs.
        case malformed(String)
        /// TLS or the system refused.
        case failed(String)

        /// What happened, in words.
        public var description: String {
            switch self {
            case .closedByPeer: "the peer closed"
            case .resetByPeer: "the peer reset"
            case .closedByScript: "the script had closed"
            case .stopped: "the server was stopped"
            case .timedOut(let what): "timed out: \(what)"
            case .malformed(let what): "malformed: \(what)"
            case .failed(let what): what
            }
        }
    }
}
