import ArgumentParser
import Foundation
import NetworkStack

extension NameSpecification {
    /// A short name and a long one.
    static func both(_ short: Character, _ long: String) -> NameSpecification {
        [.customShort(short), .customLong(long)]
    }
}

/// How a fetch is carried out.
struct TransferArguments: ParsableArguments {
    @Option(
        name: .both("m", "max-time"),
        help: ArgumentHelp("Seconds for the whole fetch, its retries included", valueName: "seconds")
    )
    var maxTime: Double?

    @Option(help: ArgumentHelp("Seconds for name lookup, connecting and TLS", valueName: "seconds"))
    var connectTimeout: Double?

    @Option(help: ArgumentHelp("Redirects to follow, at most; -1 for 100", valueName: "number"))
    var maxRedirs = 20

    @Flag(name: [.customLong("no-location")], help: "Follow no redirect")
    var followsNone = false

    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects (the default)")
    var follows = false

    @Option(help: ArgumentHelp("Bytes of a body to accept, at most; 10k, 5M, 1G", valueName: "bytes"))
    var maxFilesize: ByteCount?

    @Option(help: ArgumentHelp("Bytes a second to receive and send, at most; 10k, 5M, 1G", valueName: "speed"))
    var limitRate: ByteCount?

    @Option(
        name: .both("r", "range"),
        help: ArgumentHelp("Ask for these bytes of the body only, such as 0-499", valueName: "range")
    )
    var range: String?

    @Option(
        name: .both("C", "continue-at"),
        help: ArgumentHelp("Resume a download at this byte; - for the length of its file", valueName: "offset")
    )
    var resumption: Resumption?

    @Option(
        name: .customLong("retry"),
        help: ArgumentHelp("Retry up to so many times after a failure that may pass", valueName: "number")
    )
    var retries = 0

    @Option(help: ArgumentHelp("Seconds before each retry, instead of 1, 2, 4, ...", valueName: "seconds"))
    var retryDelay: Double?

    @Flag(name: .customLong("compressed"), help: "Ask for a compressed body and decompress it")
    var decompresses = false

    @Flag(name: .customLong("http1.1"), help: "Speak HTTP/1.1")
    var http1 = false

    @Flag(name: .customLong("http2"), help: "Speak HTTP/2 where https negotiates it (the default)")
    var http2 = false

    @Flag(name: .customLong("http2-prior-knowledge"), help: "Speak HTTP/2 without negotiating it, also over http")
    var http2PriorKnowledge = false

    func validate() throws {
        guard (maxTime ?? 0) >= 0, (connectTimeout ?? 0) >= 0, retries >= 0, (retryDelay ?? 0) >= 0 else {
            throw ValidationError("-m, --connect-timeout, --retry and --retry-delay must not be negative")
        }
        guard [http1, http2, http2PriorKnowledge].filter({ $0 }).count < 2 else {
            throw ValidationError("--http1.1, --http2 and --http2-prior-knowledge each name the version; choose one")
        }
        guard maxRedirs >= -1 else { throw ValidationError("--max-redirs must be at least 0, or -1 for 100") }
        guard range == nil || resumption == nil else {
            throw ValidationError("-r and -C each name a part of the body; choose one")
        }
    }

    /// The most that the library follows.
    private static let mostRedirects = 100

    /// The library's options.
    var options: HTTP.Options {
        var options = HTTP.Options.raw
        options.redirects.limit = followsNone ? 0 : maxRedirs < 0 ? Self.mostRedirects : maxRedirs
        options.timeouts.limit(total: maxTime, connect: connectTimeout)
        if let maxFilesize, maxFilesize.bytes > 0 { options.limits.body = maxFilesize.bytes }
        options.decompresses = decompresses
        if http2PriorKnowledge { options.version = .http2PriorKnowledge }
        if http1 { options.version = .http1_1 }
        return options
    }

    /// Whether a redirect is a failure, and not the response to show: `--max-redirs 0`.
    var refusesRedirects: Bool { maxRedirs == 0 && !followsNone }

    var retrying: Retrying { Retrying(limit: retries, delay: retryDelay) }
}

/// A number of bytes as curl takes it: `1000`, `10k`, `5M`, `1G`.
struct ByteCount: ExpressibleByArgument {
    let bytes: Int64

    init?(argument: String) {
        let units: [Character: Int64] = ["b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        let unit = argument.lowercased().last.flatMap { units[$0] }
        guard let number = Int64(unit == nil ? argument : String(argument.dropLast())), number >= 0 else { return nil }
        let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: unit ?? 1)
        self.bytes = isTooMuch ? .max : bytes
    }
}

/// Where -C resumes a download.
enum Resumption: ExpressibleByArgument {
    case offset(Int64)
    case lengthOfFile

    init?(argument: String) {
        if argument == "-" {
            self = .lengthOfFile
        } else if let offset = Int64(argument), offset >= 0 {
            self = .offset(offset)
        } else {
            return nil
        }
    }

    /// The first byte to request.
    func offset(in file: String?) -> Int64 {
        switch self {
        case .offset(let offset): offset
        case .lengthOfFile: file.flatMap { LocalFile.length($0) } ?? 0
        }
    }
}

extension HTTP.Options {
    /// The library's options, with a body of any length delivered as it was sent, and none needed.
    fileprivate static var raw: HTTP.Options {
        var options = HTTP.Options()
        options.decompresses = false
        options.allowsEmptyBody = true
        options.limits.body = .max
        // More than curl's versions of today take, which stop at 5000.
        options.limits.headFields = 6000
        return options
    }
}

extension HTTP.Options.Timeouts {
    /// Sets the total and the connect timeout, in seconds; 0 and `nil` set none. The idle timeout becomes at least as long as
    /// the total one.
    mutating func limit(total: Double?, connect: Double? = nil) {
        if let total, total != 0 {
            let bound = Duration.seconds(min(total, 1e9))
            self.total = bound
            idle = max(idle, bound)
        }
        if let connect, connect != 0 { self.connect = .seconds(min(connect, 1e9)) }
    }
}
