import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// The codings that a request offers.
extension ConformanceCheck {
    static func offers(_ coding: String, _ request: ReceivedRequest) -> Bool {
        let offered = (request["Accept-Encoding"] ?? "").split(separator: ",").map {
            $0.split(separator: ";").first ?? ""
        }
        return offered.contains { $0.drop { $0 == " " } == coding }
    }

    static func needsOffer(of coding: String, in requests: [ReceivedRequest]) throws {
        guard requests.contains(where: { offers(coding, $0) }) else {
            throw UnclaimedPromise("The requests of the stack do not offer \(coding).")
        }
    }
}
