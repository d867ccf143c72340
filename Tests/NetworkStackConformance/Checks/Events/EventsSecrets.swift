import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Secrets that descriptions, events, errors, logs and recordings leave out.
    static let plantedSecrets: [ConformanceCheck] = [
        ConformanceCheck("No description, event, error, log or recording shows a secret") { subject in
            let (secrets, shown) = (PlantedSecrets(), ShownTexts())
            let recorder = FlightRecorder(redaction: .init(headers: ["X-Named"]))
            let peer = try subject.serve { secrets.reply(to: $0) }
            let stack = try subject.stack {
                $0.listeners = [shown, recorder]
                $0.sensitiveHeaders = ["X-Configured"]
                let redaction = HTTP.Redaction(headers: ["X-Named", "X-Configured"])
                $0.interceptors = [
                    HTTPRetryPolicy.maxRetries(1),
                    LoggingInterceptor(level: .headers, redaction: redaction) { shown.add("the log", "\($0)") },
                ]
            }
            let builders = secrets.requests(to: { peer.url($0) })
            for builder in builders {
                shown.add("a builder", builder.header("X-Named", "").header("X-Configured", ""))
                do {
                    let request = try builder.request()
                    shown.add("a request", request.withoutNamed)
                    let (_, response) = try await stack.data(for: builder)
                    shown.add("a response", response)
                    for challenge in response.headers.challenges { shown.add("a challenge", challenge) }
                    _ = try await stack.send(builder, as: Int.self)
                } catch {
                    shown.add("an error", error)
                }
            }
            try await stack.text(peer.url("/last"))
            try await eventually("the last fetch is recorded") {
                recorder.records.last?.url?.hasSuffix("/last") == true
            }
            for record in recorder.records {
                shown.add("a record", record)
                shown.add("an explanation", record.explain())
            }
            shown.add("the HAR", String(decoding: try recorder.har(), as: UTF8.self))
            try expect(secrets.planted.count >= 30, "Only \(secrets.planted.count) secrets are planted")
            try expect(shown.count > 8 * builders.count, "Only \(shown.count) texts are shown")
            for (place, secret) in secrets.planted {
                let leak = shown.first { $0.contains(secret) }
                try expect(leak == nil, "The secret in \(place) is shown by \(leak ?? "")")
            }
            // A secret that is not sent cannot leak.
            let received = peer.requests().map { String(decoding: $0.rawHead + $0.body, as: UTF8.self) }.joined()
            for place in PlantedSecrets.sent {
                try expect(received.contains(secrets[place]), "The secret in \(place) was not sent")
            }
        }
    ]
}

/// Distinct secrets, each with its place.
private final class PlantedSecrets: Sendable {
    private let secrets = Lock<[String: String]>([:])

    /// Every place and its secret.
    var planted: [String: String] { secrets.withLock { $0 } }

    /// The secret of a place, which is recorded as planted.
    subscript(place: String) -> String {
        secrets.withLock { secrets in
            let secret = secrets[place] ?? "s3cr3t\(secrets.count + 100)"
            secrets[place] = secret
            return secret
        }
    }

    private static let queryItems = [
        "access_token", "api_key", "client_secret", "code", "password", "sig", "token", "X-Amz-Security-Token",
        "X-Amz-Signature",
    ]

    private static let requestFields = [
        "Cookie", "X-API-Key", "X-Auth-Token", "X-Amz-Security-Token", "X-CSRF-Token", "X-Named", "X-Configured",
    ]

    private static let schemes = ["Basic", "Bearer", "DPoP", "Negotiate", "AWS4-HMAC-SHA256 Signature="]

    /// The places whose secrets the server must have received.
    static let sent: [String] =
        queryItems.map { "the query item \($0)" } + requestFields.map { "the field \($0)" }
        + schemes.map { "credentials of \($0)" } + ["a form", "JSON", "a part of multipart", "a text"]

    /// Requests with secrets everywhere. The answers to the last ones have some, too.
    func requests(to url: (_ path: String) -> String) -> [HTTP.RequestBuilder] {
        var request = HTTP.RequestBuilder.get(url("/") + "#\(self["a fragment"])")
        for name in Self.queryItems { request = request.query(name, self["the query item \(name)"]) }
        for name in Self.requestFields { request = request.header(.init(name), self["the field \(name)"]) }
        let referrer = "https://\(self["a referrer's user"]):x@host.test/?token=\(self["a referrer's query"])"
        request = request.header(.referer, referrer)
        var multipart = MultipartFormData()
        multipart.parts.append(.init(name: "part", body: .bytes(Data(self["a part of multipart"].utf8))))
        let authority = url("/user").split(separator: "/", maxSplits: 1)
        let user = "\(authority[0])//\(self["a user's name"]):\(self["a user's password"])@\(authority[1].dropFirst())"
        return [
            request, .get(user),
            .post(url("/"), body: .none).form(["password": self["a form"]]),
            .post(url("/"), body: .none).json(["token": self["JSON"]]),
            .post(url("/"), body: .none).multipart(multipart),
            .post(url("/"), body: .bytes(Data(self["a text"].utf8))),
            .get(url("/")).header(.proxyAuthorization, "Basic \(self["credentials for a proxy"])"),
            .get(url("/") + self["a faulty URL"] + " "),
            .get(url("/")).header("X-Auth-Token", "\(self["a faulty field"])\n"),
        ]
            + Self.schemes.map { scheme in
                .get(url("/")).header(.authorization, "\(scheme) \(self["credentials of \(scheme)"])")
            }
            + ["answer", "redirect", "elsewhere", "challenge", "proxy", "lost", "undecodable"].map { path in
                .get(url("/\(path)"))
            }
    }

    /// The answer to a request, with secrets.
    func reply(to request: ReceivedRequest) -> Reply {
        let query = { (place: String) in "https://\(self[place]):x@host.test/?token=\(self[place])" }
        switch request.target {
        case "/answer":
            return .ok(
                self["a body"],
                headers: [
                    ("Set-Cookie", "sid=\(self["Set-Cookie"])"), ("X-Auth-Token", self["a token field"]),
                    ("Authentication-Info", "nextnonce=\"\(self["the next nonce"])\""),
                    ("Link", "<\(query("Link"))>"), ("Content-Location", query("Content-Location")),
                    ("Refresh", "5; url=\(query("Refresh"))"),
                ]
            )
        case "/redirect":
            return .redirect(to: "//\(self["a Location's user"]):x@\(request.host)/?key=\(self["a Location's query"])")
        case "/elsewhere": return .redirect(to: "ftp://\(self["a bad Location"]):x@host.test/?t=\(self["its query"])")
        case "/challenge":
            let parts = "nonce=\"\(self["a nonce"])\", opaque=\"\(self["opaque"])\", realm=\"users\""
            return .status(
                401,
                self["the body of a 401"],
                headers: [
                    ("WWW-Authenticate", "Digest \(parts)"), ("WWW-Authenticate", "Negotiate \(self["a token68"])"),
                ]
            )
        case "/proxy":
            return .status(403, headers: [("Proxy-Authenticate", "Digest nonce=\"\(self["a proxy's nonce"])\"")])
        case "/lost": return .status(404, "{\"error\": \"\(self["the body of a 404"])\"}")
        case "/undecodable": return .json("{\"value\": \"\(self["a body that is no number"])\"}")
        default: return .ok("1")
        }
    }
}

/// The texts that a program could write to a log: descriptions, dumps, and those of everything that a listener gets.
private final class ShownTexts: EventListener {
    private let texts = Lock<[String]>([])

    var count: Int { texts.withLock(\.count) }

    func first(where matches: (String) -> Bool) -> String? { texts.withLock { $0.first(where: matches) } }

    func add(_ name: String, _ value: some Any) {
        var dumped = ""
        dump(value, to: &dumped)
        var added = ["\(value)", String(reflecting: value), dumped]
        if let error = value as? any HTTPError { added += [error.summary, "\(error.context as Any)"] }
        texts.withLock { $0 += added.map { "\(name): \($0)" } }
    }

    private func note(_ name: String, _ event: FetchEvent, _ values: Any...) {
        add(name, event)
        if let request = event.request { add(name, request.withoutNamed) }
        for value in values { add(name, value) }
    }

    func attemptStarted(_ event: FetchEvent) { note("attemptStarted", event) }
    func connectionAcquired(_ event: FetchEvent, connection: HTTP.Connection, isReused: Bool) {
        note("connectionAcquired", event, connection)
    }
    func headReceived(_ event: FetchEvent, response: HTTP.Response) { note("headReceived", event, response) }
    func redirected(_ event: FetchEvent, response: HTTP.Response) { note("redirected", event, response) }
    func retryScheduled(_ event: FetchEvent, after delay: Duration?, error: any Error) {
        note("retryScheduled", event, error)
    }
    func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) { note("fetchSucceeded", event, response) }
    func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) {
        note("fetchFailed", event, error)
    }
}

extension HTTP.Request {
    /// The request without the fields that only a configuration knows as secret.
    fileprivate var withoutNamed: HTTP.Request {
        var request = self
        request.headers["X-Named"] = nil
        request.headers["X-Configured"] = nil
        return request
    }
}

extension ReceivedRequest {
    /// The value of `Host`.
    fileprivate var host: String { headers.first { $0.name.lowercased() == "host" }?.value ?? "" }
}
