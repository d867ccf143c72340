internal import NetworkStack

/// The transfers that have a place. Each knows its index among them, so that none is looked up.
struct ActiveTransfers {
    /// All of them, in no order.
    private(set) var all: [Transfer] = []
    /// The transfers that wait for another's connection.
    private var followers: [ObjectIdentifier: Transfer] = [:]

    var isEmpty: Bool { all.isEmpty }

    /// The transfer of a control, if it is one of these.
    subscript(control: TransferControl) -> Transfer? { control.activeIndex < 0 ? nil : all[control.activeIndex] }

    func contains(_ transfer: Transfer) -> Bool { transfer.control.activeIndex >= 0 }

    mutating func insert(_ transfer: Transfer) {
        transfer.control.activeIndex = all.count
        all.append(transfer)
    }

    mutating func remove(_ transfer: Transfer) {
        let index = transfer.control.activeIndex
        guard index >= 0 else { return }
        transfer.control.activeIndex = -1
        if !followers.isEmpty { followers[transfer.id] = nil }
        let last = all.removeLast()
        guard last !== transfer else { return }
        all[index] = last
        last.control.activeIndex = index
    }

    /// Removes and returns them all.
    mutating func removeAll() -> [Transfer] {
        for transfer in all { transfer.control.activeIndex = -1 }
        followers = [:]
        defer { all = [] }
        return all
    }

    /// One of them waits for another's connection, which it may share.
    mutating func follow(_ transfer: Transfer) {
        followers[transfer.id] = transfer
        transfer.entered(.connecting)
    }

    /// Takes one that need not wait any longer.
    mutating func takeFollower(_ id: ObjectIdentifier) -> Transfer? { followers.removeValue(forKey: id) }
}
