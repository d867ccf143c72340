internal import CCurl

/// What the transfers of a loop share: those that something happened to in this turn, and the connections' sockets.
final class Turn {
    var touched: [Transfer] = []
    let sockets = OpenSockets()
    var held = HeldInput()
    /// Those that are to go on sending at a moment.
    var postponed: [(transfer: Transfer, until: MonotonicInstant)] = []

    /// Those that ended when they were to go on, which libcurl does not tell again.
    var stopped: [(transfer: Transfer, code: CURLcode)] = []

    init() {}
}
