/// What the transfers of a loop share: those that something happened to in this turn, and the connections' sockets.
final class Turn {
    var touched: [Transfer] = []
    let sockets = OpenSockets()

    init() {}
}
