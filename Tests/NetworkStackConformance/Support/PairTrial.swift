import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// A pair in one situation.
struct PairTrial: Sendable {
    /// The observable results of one fetch.
    struct Trace: Equatable {
        /// The requests that the servers received, without fields of the connection.
        var requests: [String]
        var outcome: String
        /// The connection of the last request, if the fetch succeeded; not compared. After a fetch that was stopped, a stack may
        /// keep the connection if all of the response was there.
        var connection: String?

        static func == (left: Trace, right: Trace) -> Bool {
            left.requests == right.requests && left.outcome == right.outcome
        }
    }

    private typealias Stacks = (collected: ConformanceSubject.Stack, streamed: AnyHTTPNetworkStack<ErasedStream>)
    private typealias Resource = ConformanceSubject.Stack.Resource

    /// A resource of one side for one server, which is made once and fetched several times.
    private struct Made {
        let resource: Resource
        let isStreamed: Bool
        let log: EventLog
    }

    private let pair: Pair
    private let situation: PairSituation
    private let subject: ConformanceSubject
    private let servers: PairServers

    init(_ pair: Pair, _ situation: PairSituation, _ subject: ConformanceSubject) async throws {
        (self.pair, self.situation, self.subject) = (pair, situation, subject)
        servers = try await PairServers(pair, situation, subject)
    }

    /// Runs both orders, each side twice, and compares with the results of each side on a separate stack.
    func run() async throws {
        let alone = [
            PairSide.with: try await fetches([.with, .with]), .without: try await fetches([.without, .without]),
        ]
        if situation == .changedByRetry { return try await changes(alone) }
        if situation == .sameConnection {
            let isSeen = alone[.with] != alone[.without]
            try expect(isSeen, "Both fetches have the same outcome: \(alone[.with]?.first?.outcome ?? "nothing")")
        }
        for order in [[PairSide.with, .without, .with, .without], [.without, .with, .without, .with]] {
            let together = try await fetches(order)
            for (place, side) in order.enumerated() {
                try expectEqual(
                    together[place],
                    alone[side]?[place / 2],
                    "\(situation.rawValue), fetch \(place) of \(order.map(\.rawValue)), \(side.rawValue) it"
                )
            }
            guard situation == .sameConnection, pair.sharesConnections, pair.configureOne == nil else { continue }
            for (place, side) in order.enumerated().dropLast() {
                guard let isUsedAgain = Self.isUsedAgain(together[place], together[place + 1]),
                    let expected = Self.isUsedAgain(alone[side]?[0], alone[side]?[1])
                else { continue }
                let what = "whether the connection of fetch \(place) of \(order.map(\.rawValue)) is used again"
                try expectEqual(isUsedAgain, expected, what)
            }
        }
    }

    /// Whether a fetch used the connection of the one before, if both had one.
    private static func isUsedAgain(_ first: Trace?, _ second: Trace?) -> Bool? {
        guard let first = first?.connection, let second = second?.connection else { return nil }
        return first == second
    }

    /// Runs an attempt of one side, and the next attempt of the other.
    private func changes(_ alone: [PairSide: [Trace]]) async throws {
        for side in [PairSide.with, .without] {
            guard let first = alone[side]?.first, let second = alone[side.other]?.first,
                first.requests.count == 2, second.requests.count == 2
            else { return }
            let seen = try await fetches([side], then: side.other)[0]
            let expected = Trace(requests: [first.requests[0], second.requests[1]], outcome: second.outcome)
            try expectEqual(seen, expected, "\(situation.rawValue), first \(side.rawValue) it")
        }
    }

    // MARK: Fetching

    /// Runs fetches one after the other, on a new stack.
    private func fetches(_ order: [PairSide], then next: PairSide? = nil) async throws -> [Trace] {
        let shared = try stacks(.without)
        let ofOne = pair.configureOne == nil ? shared : try stacks(.with)
        var (made, traces): ([String: Made], [Trace]) = ([:], [])
        let taking = try pair.servers == .taken ? take(shared) : []
        defer { for fetch in taking { fetch.cancel() } }
        if !taking.isEmpty { try await servers.areTaken() }
        for (place, side) in order.enumerated() {
            let round = order.prefix(place).count { $0 == side }
            let server = situation == .otherOrigin ? (round + (side == .with ? 0 : 1)) % 2 : 0
            // The second fetch of one side uses the same resource value, that of the other does not.
            let key = pair.sharesResource ? "\(server)" : "\(side) \(server) \(side == .with ? 0 : round)"
            let fetch: Made
            if let same = made[key] { fetch = same } else { fetch = try make(side, server, then: next) }
            made[key] = fetch
            traces.append(try await trace(fetch, side, on: side == .with ? ofOne : shared))
        }
        return traces
    }

    private func take(_ stacks: Stacks) throws -> [Observation] {
        _ = servers.begin(.without)
        return try (0..<2).map { try stacks.collected.observe(servers.place.url($0, "/taken")) }
    }

    private func stacks(_ side: PairSide) throws -> Stacks {
        var configuration = Network.Configuration()
        if subject.capabilities.supports(.customTrustRoots) {
            configuration.tls.trustRoots = .file(path: try TestCertificates.shared().bothRootsFile)
        }
        configuration.options.timeouts.idle = .seconds(20)
        try pair.configure(&configuration, servers.place)
        if side == .with { try pair.configureOne?(&configuration, servers.place) }
        return try subject.makeViews(configuration)
    }

    private func make(_ side: PairSide, _ server: Int, then next: PairSide?) throws -> Made {
        let (fetch, request) = try request(side, server)
        var interceptors = fetch.interceptors
        if situation == .retried || situation == .changedByRetry {
            interceptors.append(
                Spy("retry").with {
                    $0.vote = { event in event.response?.status == 503 && event.state.retryCount == 0 ? .retry : .none }
                }
            )
        }
        let making: Network.BaseRequestMaking<HTTP.Request>
        if let next {
            let later = try self.request(next, server).request
            let requests = Lock([request, later])
            making = .init { handler in handler(.success(requests.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }))
            }
        } else {
            making = .request(request)
        }
        let resource = Resource(
            baseRequestMaking: making,
            interceptors: interceptors,
            options: fetch.options?.replacing
        )
        return Made(resource: resource, isStreamed: fetch.isStreamed, log: fetch.log)
    }

    private func request(_ side: PairSide, _ server: Int) throws -> (fetch: PairFetch, request: HTTP.Request) {
        var fetch = PairFetch()
        try pair.base(&fetch, servers.place)
        try side == .with ? pair.set(&fetch, servers.place) : pair.unset(&fetch, servers.place)
        let place = servers.place.url(server, fetch.target)
        let schemed = fetch.isPlain ? place.replacing("https://", with: "http://") : place
        let named = fetch.host.map { schemed.replacing("127.0.0.1", with: $0, maxReplacements: 1) } ?? schemed
        let url = named.replacing("://", with: "://\(fetch.userInfo)", maxReplacements: 1)
        return (fetch, try HTTP.Request(method: fetch.method, url: url, headers: fetch.headers, body: fetch.body()))
    }

    private func trace(_ made: Made, _ side: PairSide, on stacks: Stacks) async throws -> Trace {
        let (counts, logged) = (servers.begin(side), made.log.all.count)
        let (outcome, isSuccess) = try await bounded(.seconds(30)) { await self.outcome(of: made, on: stacks) }
        let received = servers.received(since: counts)
        return Trace(
            requests: pair.comparesRequests ? received.map { servers.plain($0.request.trace) } : [],
            outcome: servers.plain(([outcome] + made.log.all.dropFirst(logged)).joined(separator: ", ")),
            connection: isSuccess ? received.last.map { "\($0.server) \($0.request.connectionIndex)" } : nil
        )
    }

    private func outcome(of made: Made, on stacks: Stacks) async -> (String, isSuccess: Bool) {
        do {
            guard made.isStreamed else {
                let fetched = try await stacks.collected.fetch(resource: made.resource)
                return (fetched.response.trace + ", " + Self.brief(fetched.value), true)
            }
            let opened = try await stacks.streamed.fetch(resource: made.resource)
            var content = Data()
            for try await chunk in opened.value { content += chunk }
            return ("streamed " + opened.response.trace + ", " + Self.brief(content), true)
        } catch HTTPFetchError<HTTP.Response, any Error>.timedOut(let clock, _, _) {
            return ("timed out: \(clock.rawValue)", false)
        } catch { return ("\(error)", false) }
    }

    static func brief(_ content: some Collection<UInt8>) -> String {
        content.count > 200 ? "\(content.count) bytes" : String(decoding: content, as: UTF8.self)
    }
}

extension HTTP.Response {
    /// What a caller observes of it, without parts that differ between runs.
    fileprivate var trace: String {
        let keys = metrics.serverPins.map { "keys \($0.map(\.base64))" } ?? "no keys"
        let pins = keys + (metrics.matchedPin == nil ? "" : ", a pin")
        let fields = headers.filter { $0.name != .date && $0.name != .setCookie }.map { "\($0.name): \($0.value)" }
        return "\(version) \(status) \(url.absoluteString) \(fields.sorted()) after \(redirects.count), "
            + "\(metrics.bytesSent) sent, \(metrics.bytesReceived) received, \(metrics.hopCount) hops, \(pins), "
            + "trailers \(trailers.map { "\($0)" } ?? "none")"
    }
}

extension ReceivedRequest {
    /// What a server observes of it, without parts that differ between runs. Digest credentials contain a random number.
    fileprivate var trace: String {
        let fields = headers.map { field in
            let isDigest = field.value.hasPrefix("Digest ")
            return "\(field.name.lowercased()): \(isDigest ? "Digest" : field.value)"
        }
        return "\(method) \(target) \(version) \(fields.sorted()) \(PairTrial.brief(body)) "
            + "\(trailers.map { "\($0.name): \($0.value)" })"
    }
}
