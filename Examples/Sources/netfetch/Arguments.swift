import ArgumentParser
import Foundation
import NetworkStack

extension NameSpecification {
    /// A short name that takes a value with or without a blank, as curl's do, and a long one.
    static func both(_ short: Character, _ long: String) -> NameSpecification {
        [.customShort(short, allowingJoined: true), .customLong(long)]
    }
}

/// How a fetch is carried out.
struct TransferArguments: ParsableArguments {
    @Option(name: .both("m", "max-time"), help: ArgumentHelp("Seconds for the whole fetch", valueName: "seconds"))
    var maxTime: Double?

    @Option(help: ArgumentHelp("Seconds for looking up, connecting and TLS", valueName: "seconds"))
    var connectTimeout: Double?

    @Option(help: ArgumentHelp("Redirects to follow, at most", valueName: "number"))
    var maxRedirs = 20

    @Flag(name: [.customLong("no-location")], help: "Follow no redirect")
    var followsNone = false

    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects (the default)")
    var follows = false

    @Option(help: ArgumentHelp("Bytes of content to accept, at most", valueName: "bytes"))
    var maxFilesize: Int64?

    @Flag(name: .customLong("compressed"), help: "Ask for compressed content and decompress it")
    var decompresses = false

    @Flag(name: .customLong("http1.1"), help: "Speak HTTP/1.1")
    var http1 = false

    @Flag(name: .customLong("http2"), help: "Speak HTTP/2 where https negotiates it (the default)")
    var http2 = false

    @Flag(name: .customLong("http2-prior-knowledge"), help: "Speak HTTP/2 without asking, also over http")
    var http2PriorKnowledge = false

    /// The library's options.
    func options() -> HTTP.Options {
        var options = HTTP.Options.raw
        options.redirects.limit = followsNone ? 0 : maxRedirs
        options.timeouts.limit(total: maxTime, connect: connectTimeout)
        if let maxFilesize { options.limits.body = maxFilesize }
        options.decompresses = decompresses
        if http2PriorKnowledge { options.version = .http2PriorKnowledge }
        if http1 { options.version = .http1_1 }
        return options
    }
}

/// What the connection is like.
struct ConnectionArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The client below: curl or urlsession", valueName: "stack"))
    var stack = StackChoice.Backend.curl

    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp("Trust the authorities of this PEM file only", valueName: "file")
    )
    var authorities: String?

    /// The stack that does this.
    func choice() throws -> StackChoice {
        var choice = StackChoice()
        choice.backend = stack
        choice.authorities = authorities
        return choice
    }
}

extension StackChoice.Backend: ExpressibleByArgument {}

/// What is shown and kept.
struct OutputArguments: ParsableArguments {
    @Option(
        name: .both("o", "output"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Write the content to a file; once per URL", valueName: "file")
    )
    var files: [String] = []

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Write the content to a file named as in the URL"
    )
    var usesRemoteNames = false

    @Flag(name: [.customShort("i"), .customLong("include")], help: "Show the response's heads before the content")
    var includesHeads = false

    @Option(
        name: .both("D", "dump-header"),
        parsing: .unconditional,
        help: ArgumentHelp("Write the response's heads to a file; - for standard output", valueName: "file")
    )
    var headsFile: String?

    @Flag(
        name: [.customShort("f"), .customLong("fail")],
        help: "Fail, without the content, at a status of 400 or above"
    )
    var failsByStatus = false

    @Flag(name: [.customLong("json")], help: "Print one JSON object per URL instead of the content")
    var printsJSON = false

    @Flag(name: [.customShort("s"), .customLong("silent")], help: "Show neither progress nor errors")
    var isSilent = false

    @Flag(name: [.customShort("S"), .customLong("show-error")], help: "Show errors even with -s")
    var showsErrors = false

    @Flag(name: [.customShort("v"), .customLong("verbose")], help: "Tell what happens, on standard error")
    var isVerbose = false
}

/// Many fetches.
struct SeveralArguments: ParsableArguments {
    @Option(
        name: .customLong("parallel"),
        help: ArgumentHelp("How many fetches may be under way at once", valueName: "number")
    )
    var width: Int?

    @Option(name: .customLong("repeat"), help: ArgumentHelp("Fetch every URL so many times", valueName: "number"))
    var times = 1

    @Flag(name: .customLong("batch"), help: "Take requests from standard input, a JSON object a line (see BATCH)")
    var isBatch = false

    func validate() throws {
        guard (width ?? 1) > 0, times > 0 else {
            throw ValidationError("--parallel and --repeat must be at least 1")
        }
    }
}

extension HTTP.Options {
    /// The library's options, with content of any length delivered as it comes, and none needed.
    static var raw: HTTP.Options {
        var options = HTTP.Options()
        options.decompresses = false
        options.allowsEmptyBody = true
        options.limits.body = .max
        return options
    }
}

extension HTTP.Options.Timeouts {
    /// Bounds the whole and the connecting, in seconds; 0 and `nil` are no bound. Who allows a fetch a longer time than the
    /// idle clock does allows it to be idle for as long.
    mutating func limit(total: Double?, connect: Double? = nil) {
        if let total, total != 0 {
            let bound = Duration.seconds(min(total, 1e9))
            self.total = bound
            idle = max(idle, bound)
        }
        if let connect, connect != 0 { self.connect = .seconds(min(connect, 1e9)) }
    }
}
