/// A client that can be measured: a program, and what it can and cannot do.
struct Contestant: Sendable {
    enum Program: Sendable {
        /// Built by this package, or the one beside it: the name of the executable.
        case swift(String, package: String? = nil)
        /// An executable of this package with the Swift runtime in it (`--static-swift-stdlib`), as command-line tools are shipped.
        case whole(String)
        /// Somebody else's language: how the program is called, and what has to be there for it.
        case foreign([String], needs: [String])
        /// A tool with a command line of its own; it serves to check the floor.
        case wrk
        /// The `curl` command, for the cold start.
        case curl
    }

    var name: String
    let program: Program
    /// Why the client has no place in a workload, or `nil` if it has one.
    var declines: @Sendable (Workload) -> String? = { _ in nil }
    /// Why the client sits a workload out unless it is asked for by name, or `nil` if it does not.
    var sitsOut: @Sendable (Workload) -> String? = { _ in nil }
    /// Whether a quick run has it: the slowest add nothing in the time.
    var isQuick = true

    /// What of the workloads only this library's stacks, and the floor, have a notion of.
    private static func onlyPlain(_ workload: Workload) -> String? {
        if workload.interceptors > 0 { return "has no interceptors of this library's" }
        if workload.pins { return "does not pin here" }
        return nil
    }

    private static func onlyWhole(_ workload: Workload) -> String? {
        if workload.kind == .coldStart { return "would measure its interpreter" }
        if workload.streams { return "is not written to stream" }
        return onlyFetches(workload)
    }

    private static func takesMinutes(_ workload: Workload) -> String? {
        workload.fetches > 1000 || workload.heldCount > 0 ? "takes minutes for it" : nil
    }

    private static func isSlow(_ workload: Workload) -> String? {
        ["get-1k-h1-c1", "get-1k-h1-c64"].contains(workload.name) ? nil : "is slow, and seen at 1 and 64 in flight"
    }

    private static func needsOwnAuthority(_ workload: Workload) -> String? {
        workload.server == .tls || workload.server == .tlsHTTP2
            ? "cannot be told to trust the benchmark's authority" : nil
    }

    private static func onlyFetches(_ workload: Workload) -> String? {
        if workload.heldCount > 0 { return "is not written for responses held open" }
        if workload.bodyFile != nil { return "is not written for uploads from files" }
        if workload.isDistinct { return "asks for one URL only" }
        return nil
    }

    /// Every client there is. The names are stable: reports are compared by them.
    static let all: [Contestant] = [
        .init(name: "curl-stack", program: .swift("bench-curl-stack")),
        .init(name: "curl-stack-callback", program: .swift("bench-curl-stack")) {
            $0.kind == .coldStart || $0.heldCount > 0 || $0.streams
                ? "is the same as the asynchronous form there" : nil
        },
        .init(
            name: "curl-stack-static",
            program: .whole("bench-curl-stack"),
            declines: { $0.kind == .coldStart ? nil : "differs in the cold start only" },
            isQuick: false
        ),
        .init(
            name: "urlsession-stack",
            program: .swift("bench-urlsession-stack"),
            declines: needsOwnAuthority,
            sitsOut: takesMinutes
        ),
        .init(
            name: "urlsession",
            program: .swift("bench-urlsession"),
            declines: {
                onlyPlain($0) ?? needsOwnAuthority($0) ?? ($0.streams ? "has no stream to read here" : nil)
            },
            sitsOut: takesMinutes
        ),
        .init(name: "libcurl-c-poll", program: .swift("bench-floor")),
        .init(name: "libcurl-c-epoll", program: .swift("bench-floor")),
        .init(
            name: "libcurl-await",
            program: .swift("bench-floor-swift"),
            declines: onlySmall,
            isQuick: false
        ),
        .init(
            name: "libcurl-callback",
            program: .swift("bench-floor-swift"),
            declines: { $0.kind == .coldStart ? "is the same as the awaited form there" : onlySmall($0) },
            isQuick: false
        ),
        .init(
            name: "async-http-client",
            program: .swift("bench-async-http-client", package: "AsyncHTTPClient"),
            declines: onlyPlain
        ),
        .init(name: "go-net-http", program: .foreign(["go/bench-go"], needs: ["go"]), declines: onlyPlain),
        .init(name: "rust-hyper", program: .foreign(["rust/release/bench-rust"], needs: ["cargo"])) {
            if $0.server == .tls || $0.server == .tlsHTTP2 { return "speaks no TLS without reqwest" }
            if $0.decodes { return "is not written to decode" }
            return onlyPlain($0) ?? onlyFetches($0)
        },
        .init(name: "rust-reqwest", program: .foreign(["rust/release/bench-rust"], needs: ["cargo"])) {
            if $0.decodes { return "is not written to decode" }
            return onlyPlain($0) ?? onlyFetches($0)
        },
        .init(
            name: "python-aiohttp",
            program: .foreign(["/usr/bin/python3", "client.py"], needs: ["python3:aiohttp"]),
            declines: { $0.server == .tlsHTTP2 ? "speaks no HTTP/2" : onlyPlain($0) ?? onlyWhole($0) },
            sitsOut: isSlow,
            isQuick: false
        ),
        .init(
            name: "python-httpx",
            program: .foreign(["/usr/bin/python3", "client.py"], needs: ["python3:httpx"]),
            declines: { onlyPlain($0) ?? onlyWhole($0) },
            sitsOut: isSlow,
            isQuick: false
        ),
        .init(
            name: "pycurl",
            program: .foreign(["/usr/bin/python3", "client.py"], needs: ["python3:pycurl"]),
            declines: checksFloor
        ),
        .init(name: "wrk", program: .wrk, declines: checksFloor),
        .init(name: "curl-command", program: .curl) { $0.kind == .coldStart ? nil : "is for the cold start" },
    ]

    private static func onlySmall(_ workload: Workload) -> String? {
        workload.heldCount > 0 || workload.path != "/1k" ? "is there to tell what small requests cost at least" : nil
    }

    private static func checksFloor(_ workload: Workload) -> String? {
        workload.name == "get-1k-h1-c64" ? nil : "is there to check the floor, at 64 in flight"
    }
}
