extension ScriptedServer {
    /// Why a connection's script cannot go on.
    ///
    /// The connection's calls throw it; `Step.run` lets it pass.
    public enum Interruption: Error, Sendable, Equatable, CustomStringConvertible {
        /// The peer ended its sending half.
        case closedByPeer
        /// The peer reset the connection.
        case resetByPeer
        /// The script itself has closed the connection.
        case closedByScript
        /// `stop()` was called.
        case stopped
        /// Nothing happened within the options' patience, or the step's limit.
        case timedOut(String)
        /// The peer's bytes are not what the step expects.
        case malformed(String)
        /// TLS or the system failed.
        case failed(String)

        /// The failure, as text.
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
