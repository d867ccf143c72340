import NetworkStack

extension ConformanceCheck {
    /// Two fetches that differ in one thing, on one stack, in every order and situation.
    static let pairs: [ConformanceCheck] = [everyOptionHasItsPair] + Pair.all.map(\.check)

    private static let everyOptionHasItsPair = ConformanceCheck("Every option of a fetch or a stack has its pair") {
        _ in
        let covered = Set(Pair.all.flatMap(\.covers)).union(withoutPair.keys)
        let all = properties(of: HTTP.Options()) + properties(of: Network.Configuration(), named: "configuration.")
        let missing = all.filter { !covered.contains($0) }
        try expect(missing.isEmpty, "Add a pair to Checks/PairsOf*.swift that covers \(missing)")
        let gone = covered.subtracting(all)
        try expect(gone.isEmpty, "No option is named \(gone.sorted())")
    }

    /// The stored properties of options, and those of the types within them.
    private static func properties(of value: Any, named prefix: String = "") -> [String] {
        Mirror(reflecting: value).children.flatMap { child -> [String] in
            let name = prefix + (child.label ?? "?")
            let type = String(reflecting: Swift.type(of: child.value))
            let isNested =
                Mirror(reflecting: child.value).displayStyle == .struct
                && nests.contains { type.hasPrefix("NetworkStack.\($0)") }
            guard isNested, type != "NetworkStack.HTTP.Options" else { return [name] }
            return properties(of: child.value, named: name + ".")
        }
    }

    private static let nests = [
        "HTTP.Options.", "Network.Configuration.", "Network.TLSConfiguration", "Network.Proxies",
    ]

    /// The options that affect no fetch by themselves, with the reasons.
    private static let withoutPair: [String: String] = [
        "configuration.connections.perHost": "It limits how many fetches run at once.",
        "configuration.connections.total": "It limits how many fetches run at once.",
        "configuration.connections.streamsPerConnection": "It limits how many fetches run at once.",
        "configuration.connections.idleAge": "It counts in whole seconds, on one stack's own connections.",
        "configuration.connections.lifetime": "It counts in whole seconds, on one stack's own connections.",
        "configuration.addresses.happyEyeballsDelay": "It needs a host with an address that does not answer.",
        "configuration.addresses.dnsCacheAge": "It counts in whole seconds, on one stack's own lookups.",
        "configuration.tls.acceptsCommonNames":
            "It needs a server that is named in its subject alone: a check of names has two stacks.",
        "configuration.serverTrustReporter": "It is a callback, and changes no fetch.",
        "configuration.listeners": "They are callbacks, and change no fetch.",
        "configuration.wallClock": "It is no public option.",
        "configuration.retryClock": "It times delays, and changes no fetch.",
    ]
}

extension Pair {
    static let all: [Pair] = ofOptions + ofRequests + ofAnswers + ofStacks
}
