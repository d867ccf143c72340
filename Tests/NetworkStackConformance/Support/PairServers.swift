import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// The two servers of a pair.
final class PairServers: Sendable {
    private struct State {
        var side = PairSide.with
        /// How many requests of the current fetch were answered.
        var answered = 0
    }

    let place: PairPlace
    private let peers: [ConformancePeer]
    private let nginx: NginxServer?
    private let state: Lock<State>
    /// The place that the servers' answers use. It retains the servers, which retain it.
    private let answering: Lock<PairPlace?>

    init(_ pair: Pair, _ situation: PairSituation, _ subject: ConformanceSubject) async throws {
        let (state, whole) = (Lock(State()), Lock<PairPlace?>(nil))
        let answer: @Sendable (ReceivedRequest, Int) -> Reply = { request, server in
            let (side, number) = state.withLock { state in
                defer { state.answered += 1 }
                return (state.side, state.answered)
            }
            guard let place = whole.withLock({ $0 }) else { return .status(500) }
            if request.path == "/taken" { return .steps([.waitForClose]) }
            switch situation {
            case .redirected where number == 0: return .redirect(307, to: "/pair/there")
            case .redirectedAway where number == 0: return .redirect(307, to: place.url(1 - server, "/pair/there"))
            case .retried where number == 0, .changedByRetry where number == 0: return .status(503, "later")
            case .closedConnection: return pair.answer(request, side, place).closing
            default: return pair.answer(request, side, place)
            }
        }
        peers = try (0..<2).map { server in
            switch pair.servers {
            case .plain, .taken, .priorKnowledge: return try subject.serve { answer($0, server) }
            case .secure, .silent:
                let certificates = try TestCertificates.shared()
                let identity = server == 0 ? certificates.server : certificates.rotatedServer
                var options = ScriptedServer.Options(tls: identity)
                options.answersHandshake = pair.servers == .secure
                options.clientCertificate = .requested
                let box = Weak()
                let secure = try ScriptedServer.responding(options) { request in
                    let tls = box.server?.connections[request.connectionIndex].tls
                    return answer(request, server)
                        .adding("X-TLS: \(tls?.version ?? "?") \(tls?.clientCertificateSubject ?? "")")
                }
                box.set(secure)
                return ConformancePeer(url: { secure.url($0) }, requests: { secure.requests }, owner: secure)
            }
        }
        let direct = PairPlace(urls: peers.map(\.url))
        if situation == .overHTTP2 {
            var options = NginxServer.Options()
            options.directives = """
                location /pair {
                  proxy_pass \(direct.url()); proxy_http_version 1.1; proxy_set_header Host $http_host;
                  proxy_set_header Connection ""; proxy_request_buffering off;
                }
                """
            let nginx = try NginxServer(options)
            try await nginx.start()
            self.nginx = nginx
            let isInTheClear = pair.servers == .priorKnowledge
            let url = { @Sendable (path: String) -> String in
                isInTheClear ? nginx.cleartextHTTP2URL(path) : nginx.httpsURL(path)
            }
            place = PairPlace(urls: [url, url])
        } else {
            (nginx, place) = (nil, direct)
        }
        (self.state, answering) = (state, whole)
        whole.withLock { $0 = place }
    }

    deinit { answering.withLock { $0 = nil } }

    /// The next fetch begins.
    ///
    /// - Returns: How many requests each server has received so far.
    func begin(_ side: PairSide) -> [Int] {
        state.withLock { $0 = State(side: side) }
        return peers.map { $0.requests().count }
    }

    /// Waits until both servers have the request that occupies their connection.
    func areTaken() async throws {
        try await eventually("both servers have a request") { peers.allSatisfy { !$0.requests().isEmpty } }
    }

    /// The requests that the servers have received since, in order.
    func received(since counts: [Int]) -> [(server: Int, request: ReceivedRequest)] {
        peers.enumerated().flatMap { server, peer in
            peer.requests().dropFirst(counts[server]).map { (server, $0) }
        }
        .sorted { $0.1.arrivedAt < $1.1.arrivedAt }
    }

    /// A text without parts that differ between runs: addresses of the servers, and times.
    func plain(_ text: String) -> String {
        var text = text.replacing(/[0-9]+ ms/, with: "some ms").replacing(/UserInfo={[^}]*}/, with: "more")
            .replacing(/date: [^\n]*/, with: "date")
        for server in 0..<2 {
            let authority = place.authority(server)
            let port = authority.split(separator: ":").dropFirst().last.map(String.init)
            text = text.replacing(authority, with: "server")
            if let port { text = text.replacing(":\(port)", with: ":port").replacing(" \(port)", with: " port") }
        }
        return text
    }
}

/// A server with a weak reference to itself.
private final class Weak: Sendable {
    private struct Reference: Sendable { weak var server: ScriptedServer? }

    private let reference = Lock(Reference())

    var server: ScriptedServer? { reference.withLock { $0.server } }

    func set(_ server: ScriptedServer) { reference.withLock { $0.server = server } }
}

extension Reply {
    /// The reply as the last one on its connection.
    fileprivate var closing: Reply { adding("Connection: close").then(.close) }

    /// The reply with another field, if there is a head.
    fileprivate func adding(_ field: String) -> Reply {
        guard head.count > 2 else { return self }
        return Reply(head: head.dropLast(2) + Array("\(field)\r\n\r\n".utf8), body: body, steps: steps)
    }
}
