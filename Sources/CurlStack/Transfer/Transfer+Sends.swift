/// How often the request goes out.
extension Transfer {
    /// The request is about to go out.
    func noteSend(isVouchedFor: Bool) {
        resends = resends.map { $0 + 1 } ?? 0
        if !isVouchedFor { sends += 1 }
    }

    /// Whether the server has declared that it did not process the request as it was sent last.
    var isVouchedFor: Bool { isUnprocessed || isRefused }
}
