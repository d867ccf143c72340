/// What a client program is told on its command line: `key=value`, one argument each, the same for every language.
public struct ClientSettings: Sendable {
    /// Which of the program's clients is measured.
    public let client: String
    /// The URL that is fetched.
    public let url: String
    /// The method.
    public let method: String
    /// How many fetches are under way at any time.
    public let inFlight: Int
    /// How long the warm-up takes, in milliseconds.
    public let warmUpMilliseconds: Int
    /// How long the measured part takes, in milliseconds, unless fetches are counted.
    public let runMilliseconds: Int
    /// How many fetches the warm-up makes; 0 if it goes by time.
    public let warmUpFetches: Int
    /// How many fetches are measured; 0 if the run goes by time.
    public let fetches: Int
    /// The length of the request's content, in bytes.
    public let bodyBytes: Int
    /// A file that is the request's content, if it is one.
    public let bodyFile: String?
    /// What every fetch must return, or `nil` for anything.
    public let expected: Int?
    /// Whether the response is decoded as JSON.
    public let decodes: Bool
    /// Whether the content is counted and dropped while it arrives, and never held whole.
    public let streams: Bool
    /// A PEM file of certificate authorities.
    public let authorities: String?
    /// How many interceptors every fetch passes that set a field of the request.
    public let interceptors: Int
    /// Whether every fetch asks for another URL, and brings fields of its own.
    public let isDistinct: Bool
    /// How many it passes that change nothing.
    public let passiveInterceptors: Int
    /// How many listeners the stack has that do nothing with every event.
    public let listeners: Int
    /// How many flight recorders the stack has.
    public let recorders: Int
    /// Whether libcurl uses the faster allocator (`Network.CurlNetworkStack.useFastAllocator()`), which it does not by default.
    public let usesFastAllocator: Bool
    /// The pins the server's chain must hold, in base64.
    public let pins: [String]
    /// The URL of a response that stays open.
    public let heldURL: String?
    /// How many such responses are open while the rest is measured.
    public let heldCount: Int
    /// Answers how many responses the server holds open.
    public let heldCountURL: String?

    /// Reads the settings.
    ///
    /// - Parameter arguments: The program's arguments, without its name.
    /// - Throws: ``UnexpectedResponse`` if one is missing or is not `key=value`.
    public init(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) throws {
        var values: [String: String] = [:]
        for argument in arguments {
            guard let equals = argument.firstIndex(of: "=") else {
                throw UnexpectedResponse("'\(argument)' is not key=value.")
            }
            values[String(argument[..<equals])] = String(argument[argument.index(after: equals)...])
        }
        func number(_ key: String, _ standard: Int = 0) -> Int { values[key].flatMap { Int($0) } ?? standard }
        guard let url = values["url"] else { throw UnexpectedResponse("The setting 'url' is missing.") }
        self.url = url
        client = values["client"] ?? ""
        method = values["method"] ?? "GET"
        inFlight = number("in_flight", 1)
        warmUpMilliseconds = number("warm_up_ms", 100)
        runMilliseconds = number("run_ms", 500)
        warmUpFetches = number("warm_up_fetches")
        fetches = number("fetches")
        bodyBytes = number("body_bytes")
        bodyFile = values["body_file"]
        expected = values["expect"].flatMap { Int($0) }
        decodes = values["decode"] == "json"
        streams = values["stream"] == "1"
        authorities = values["ca"]
        passiveInterceptors = number("passive_interceptors")
        listeners = number("listeners")
        recorders = number("recorders")
        interceptors = number("interceptors")
        usesFastAllocator = values["fast_allocator"] != "0"
        isDistinct = values["distinct"] == "1"
        pins = values["pins"].map { $0.split(separator: ",").map(String.init) } ?? []
        heldURL = values["held_url"]
        heldCount = number("held_count")
        heldCountURL = values["held_count_url"]
    }
}
