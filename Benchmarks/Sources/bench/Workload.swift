/// What is asked of a client: one line of the report.
struct Workload: Sendable {
    enum Server: Sendable {
        case plain, tls, tlsHTTP2, peer
    }

    enum Kind: Sendable {
        /// Fetches for a while, or so many, and counts.
        case load
        /// The program as a whole, from its start to its end, with one fetch.
        case coldStart
    }

    let name: String
    var title: String
    var kind = Kind.load
    var server = Server.plain
    var path = "/1k"
    var inFlight = 1
    /// What every fetch must return: bytes or, decoded, items.
    var expected = 1024
    var method = "GET"
    var bodyBytes = 0
    var bodyFile: String?
    var decodes = false
    /// Whether the content is counted and dropped while it arrives.
    var streams = false
    var interceptors = 0
    /// Whether every fetch asks for another URL, and brings fields of its own.
    var isDistinct = false
    var pins = false
    var heldCount = 0
    /// Fetches to make, for a run that does not go by time.
    var fetches = 0
    var warmUpFetches = 0
    var isQuick = false
    /// How often it is run at most: what is no question of time needs no seven rounds.
    var roundsAtMost = Int.max
    /// About how long a run takes that does not go by time, for the estimate at the start.
    var usualSeconds = 0.0

    /// Every workload, the most telling first. The names are stable: reports are compared by them.
    static let all: [Workload] = [
        .init(name: "get-1k-h1-c64", title: "1 KiB GET, 64 in flight", inFlight: 64, isQuick: true),
        .init(name: "get-1k-h1-c256", title: "1 KiB GET, 256 in flight", inFlight: 256, isQuick: true),
        .init(name: "get-1k-h1-c1", title: "1 KiB GET, 1 in flight", isQuick: true),
        .init(name: "get-1k-h1-c16", title: "1 KiB GET, 16 in flight", inFlight: 16),
        .init(name: "get-1k-h1-c1000", title: "1 KiB GET, 1,000 in flight", inFlight: 1000),
        .init(
            name: "get-1k-https-c64",
            title: "1 KiB GET over TLS, kept alive, 64 in flight",
            server: .tls,
            inFlight: 64,
            isQuick: true
        ),
        .init(name: "get-1k-h2-c64", title: "1 KiB GET over HTTP/2, 64 in flight", server: .tlsHTTP2, inFlight: 64),
        .init(name: "get-64k-h1-c64", title: "64 KiB GET, 64 in flight", path: "/64k", inFlight: 64, expected: 65536),
        .init(
            name: "json-20k-h1-c64",
            title: "20 KiB of JSON, fetched and decoded, 64 in flight",
            path: "/articles.json",
            inFlight: 64,
            expected: BenchmarkFiles.articleCount,
            decodes: true
        ),
        .init(
            name: "cold-start",
            title: "From the program's start to its end with one response",
            kind: .coldStart,
            usualSeconds: 0.4
        ),
        .init(
            name: "held-10k-c64",
            title: "1 KiB GET, 64 in flight, beside 10,000 open responses",
            inFlight: 64,
            heldCount: 10_000,
            usualSeconds: 8
        ),
        .init(
            name: "download-256m",
            title: "256 MiB, buffered",
            path: "/256m",
            expected: 256 << 20,
            fetches: 4,
            warmUpFetches: 1,
            usualSeconds: 2
        ),
        .init(
            name: "download-1g",
            title: "1 GiB, streamed and dropped",
            path: "/1g",
            expected: 1 << 30,
            streams: true,
            fetches: 1,
            warmUpFetches: 1,
            usualSeconds: 1.5
        ),
        .init(
            name: "upload-1g",
            title: "1 GiB from a file",
            server: .peer,
            path: "/sink",
            expected: 2,
            method: "PUT",
            bodyFile: "1g",
            fetches: 1,
            warmUpFetches: 1,
            usualSeconds: 2.5
        ),
        .init(
            name: "get-1k-handshake-c16",
            title: "1 KiB GET, a TLS handshake each, 16 in flight",
            server: .tls,
            path: "/close/1k",
            inFlight: 16
        ),
        .init(
            name: "post-64k-h1-c64",
            title: "64 KiB POST, 64 in flight",
            server: .peer,
            path: "/sink",
            inFlight: 64,
            expected: 2,
            method: "POST",
            bodyBytes: 65536
        ),
        .init(
            name: "get-1k-interceptors-c64",
            title: "1 KiB GET through three interceptors, 64 in flight",
            inFlight: 64,
            interceptors: 3
        ),
        .init(
            name: "get-1k-distinct-c64",
            title: "1 KiB GET, another URL each time and a token, 64 in flight",
            inFlight: 64,
            isDistinct: true
        ),
        .init(
            name: "get-1k-pins-c64",
            title: "1 KiB GET over TLS with a pinned key, 64 in flight",
            server: .tls,
            inFlight: 64,
            pins: true
        ),
        .init(name: "get-1k-h2-c256", title: "1 KiB GET over HTTP/2, 256 in flight", server: .tlsHTTP2, inFlight: 256),
        .init(
            name: "growth-200k",
            title: "200,000 fetches, 64 in flight",
            inFlight: 64,
            fetches: 200_000,
            warmUpFetches: 10_000,
            roundsAtMost: 3,
            usualSeconds: 13
        ),
    ]
}
