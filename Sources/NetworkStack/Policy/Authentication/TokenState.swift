internal import FoundationEssentials

/// What a token authenticator knows, as a plain value: each question answers what is to be done.
///
/// There is one refresh under way at most. It has a number, so that one that was given up is not mistaken for the next.
struct TokenState {
    /// How a request gets its token.
    enum Answer {
        case use(AccessToken)
        /// It waits; if there is a number, the refresh of that number is to be begun.
        case wait(begins: Int?)
    }

    private(set) var token: AccessToken?
    /// Whether the store was asked.
    private(set) var isLoaded = false
    /// Whether the server has said that the token is not taken any more.
    private(set) var isRejected = false
    private var freshUntil: Date?
    private var refresh: Int?
    /// Whether somebody who waits wants a new token even if the current one is good.
    private var isForced = false
    private var refreshCount = 0
    /// The refreshes that have not come to their end yet, also those that were given up.
    private var running: Set<Int> = []
    /// The latest refresh whose token counted.
    private var adopted = 0
    private var waiters: [TokenWaiter] = []
    private var underWay: TokenRefresh?
    /// What requests were given, the latest last. An answer to anything else says nothing about a token.
    private var issued: [String] = []

    /// A request that failed so often with a token is not repeated, whatever token it was.
    private static let repeatLimit = 3
    /// A request that is still under way after so many tokens has waited long enough.
    private static let issuedLimit = 16

    /// Whether the token, if there is one, can be sent at a moment.
    private func isFresh(at now: Date) -> Bool { !isRejected && (freshUntil.map { now < $0 } ?? true) }

    /// A request needs a token.
    mutating func request(_ waiter: TokenWaiter, forced: Bool = false, now: Date) -> Answer {
        if let token, !forced, refresh == nil, isFresh(at: now) { return .use(token) }
        waiters.append(waiter)
        isForced = isForced || forced
        guard refresh == nil else { return .wait(begins: nil) }
        refreshCount += 1
        refresh = refreshCount
        running.insert(refreshCount)
        return .wait(begins: refreshCount)
    }

    /// Whether a refresh has neither ended nor been given up.
    func isUnderWay(_ number: Int) -> Bool { refresh == number }

    /// Whether a refresh has not come to its end, whether or not it was given up.
    func isRunning(_ number: Int) -> Bool { running.contains(number) }

    /// What was begun for a refresh. Answers whether that is over already.
    mutating func hold(_ tasks: TokenRefresh, for number: Int) -> Bool {
        guard refresh == number else { return true }
        underWay = tasks
        return false
    }

    /// The store was asked.
    mutating func load(_ token: AccessToken?, margin: Duration) {
        guard !isLoaded else { return }
        isLoaded = true
        guard let token else { return }
        keep(token)
        freshUntil = token.expirationDate?.addingTimeInterval(-margin.seconds)
    }

    /// The store was asked, for a refresh. If its token is good, and all who wait are content with that, the refresh has ended:
    /// answers who they are, and what runs for it.
    mutating func endAsLoaded(_ number: Int, now: Date) -> (AccessToken, ([TokenWaiter], TokenRefresh?))? {
        guard refresh == number, !isForced, isFresh(at: now), let token else { return nil }
        return (token, end(number))
    }

    /// A new token came of a refresh. It counts even if that was given up, as the token before may be spent, but not after
    /// one of a later refresh. Answers whether it counts.
    mutating func adopt(_ token: AccessToken, from number: Int, margin: Duration, now: Date) -> Bool {
        guard number > adopted else { return false }
        adopted = number
        keep(token)
        (isRejected, isLoaded) = (false, true)
        // A margin longer than the token lives would have every request ask for a new one.
        freshUntil = token.expirationDate.map { end in
            end.addingTimeInterval(-min(margin.seconds, max(0, end.timeIntervalSince(now)) / 2))
        }
        return true
    }

    private mutating func keep(_ token: AccessToken) {
        self.token = token
        issued.append(token.credentials)
        if issued.count > Self.issuedLimit { issued.removeFirst() }
    }

    /// A refresh has come to its end. Answers as ``end(_:)`` does.
    mutating func returned(_ number: Int) -> ([TokenWaiter], TokenRefresh?) {
        running.remove(number)
        return end(number)
    }

    /// A refresh has ended. Answers who waited for it, and what runs for it; nobody if it was given up before.
    mutating func end(_ number: Int) -> ([TokenWaiter], TokenRefresh?) {
        guard refresh == number else { return ([], nil) }
        refresh = nil
        defer { (waiters, underWay, isForced) = ([], nil, false) }
        return (waiters, underWay)
    }

    /// Nothing that is known counts any more, nor what comes of a refresh under way. Answers who waits for that, and what runs
    /// for it.
    mutating func forget() -> ([TokenWaiter], TokenRefresh?) {
        (token, freshUntil, isLoaded, isRejected) = (nil, nil, true, false)
        adopted = refreshCount
        return refresh.map { end($0) } ?? ([], nil)
    }

    /// The server would not take a token.
    ///
    /// - Parameters:
    ///   - credentials: What the request was sent with.
    ///   - rejections: How often the same fetch was answered so before.
    /// - Returns: The vote; none on what was not given out here.
    mutating func judge(rejected credentials: String, rejections: Int) -> Retry.Action {
        guard issued.contains(credentials) else { return .none }
        let isCurrent = token?.credentials == credentials && !isRejected
        // The token is no older than what there is: a second refusal is about something else than its age.
        let isFinal = isCurrent ? rejections > 0 : rejections >= Self.repeatLimit
        guard !isFinal else { return .noRetry(.custom(TokenRejected())) }
        if isCurrent { isRejected = true }
        return .retry
    }
}

/// What runs for a refresh.
struct TokenRefresh {
    let refreshing: Task<Void, Never>
    let timer: Task<Void, Never>
}

/// One who waits for a token.
final class TokenWaiter: Cancelable {
    typealias Handler = @Sendable (Result<AccessToken, any Error>) -> any Cancelable

    private let handler: Lock<Handler?>
    private let following = CancelableBag()

    init(_ handler: @escaping Handler) { self.handler = Lock(handler) }

    /// Lets the one who waits go on. Only the first call counts.
    func resume(with result: Result<AccessToken, any Error>) {
        if let handler = handler.withLock({ $0.take() }) { following.add(handler(result)) }
    }

    /// Ends this wait and what follows it, and nobody else's.
    func cancel() {
        _ = handler.withLock { $0.take() }
        following.cancel()
    }
}
