internal import FoundationEssentials

/// The state of a token authenticator, as a value: each method returns what to do.
///
/// There is at most one refresh at a time. Refreshes have numbers, so that one that was abandoned is not mistaken for the next.
struct TokenState {
    /// How a request gets its token.
    enum Answer {
        case use(AccessToken)
        /// It waits. If there is a number, the caller starts the refresh of that number.
        case wait(begins: Int?)
    }

    private(set) var token: AccessToken?
    /// Whether the store was read.
    private(set) var isLoaded = false
    /// Whether the server rejected the token.
    private(set) var isRejected = false
    private var freshUntil: Date?
    private var refresh: Int?
    /// Whether a waiter wants a new token even if the current one is valid.
    private var isForced = false
    private var refreshCount = 0
    /// The refreshes that are running, including abandoned ones.
    private var running: Set<Int> = []
    /// The latest refresh whose token was accepted.
    private var adopted = 0
    private var waiters: [TokenWaiter] = []
    private var underWay: TokenRefresh?
    /// The tokens that requests got, the latest last. A 401 to any other value is ignored.
    private var issued: [String] = []

    /// A request that failed this often is not repeated, with whatever token.
    private static let repeatLimit = 3
    /// How many tokens are remembered. A request with an older one is not repeated.
    private static let issuedLimit = 16

    /// Whether the token, if there is one, can be sent now.
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

    /// Whether a refresh has neither ended nor been abandoned.
    func isUnderWay(_ number: Int) -> Bool { refresh == number }

    /// Whether a refresh is still running, abandoned or not.
    func isRunning(_ number: Int) -> Bool { running.contains(number) }

    /// Keeps the tasks of a refresh. Returns whether the refresh is over already.
    mutating func hold(_ tasks: TokenRefresh, for number: Int) -> Bool {
        guard refresh == number else { return true }
        underWay = tasks
        return false
    }

    /// The store was read.
    mutating func load(_ token: AccessToken?, margin: Duration) {
        guard !isLoaded else { return }
        isLoaded = true
        guard let token else { return }
        keep(token)
        freshUntil = token.expirationDate?.addingTimeInterval(-margin.seconds)
    }

    /// The store was read for a refresh. If its token is valid and sufficient for all waiters, the refresh has ended; then
    /// returns the token, the waiters and the tasks.
    mutating func endAsLoaded(_ number: Int, now: Date) -> (AccessToken, ([TokenWaiter], TokenRefresh?))? {
        guard refresh == number, !isForced, isFresh(at: now), let token else { return nil }
        return (token, end(number))
    }

    /// A refresh returned a new token. It counts even if the refresh was abandoned, because the previous token may be used up,
    /// but not after the token of a later refresh. Returns whether it counts.
    mutating func adopt(_ token: AccessToken, from number: Int, margin: Duration, now: Date) -> Bool {
        guard number > adopted else { return false }
        adopted = number
        keep(token)
        (isRejected, isLoaded) = (false, true)
        // With a margin longer than the token's life, every request would ask for a new one.
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

    /// A refresh has ended. Returns the same as ``end(_:)``.
    mutating func returned(_ number: Int) -> ([TokenWaiter], TokenRefresh?) {
        running.remove(number)
        return end(number)
    }

    /// A refresh has ended. Returns its waiters and tasks; none if it was abandoned before.
    mutating func end(_ number: Int) -> ([TokenWaiter], TokenRefresh?) {
        guard refresh == number else { return ([], nil) }
        refresh = nil
        defer { (waiters, underWay, isForced) = ([], nil, false) }
        return (waiters, underWay)
    }

    /// Forgets the token, and abandons a running refresh. Returns its waiters and tasks.
    mutating func forget() -> ([TokenWaiter], TokenRefresh?) {
        (token, freshUntil, isLoaded, isRejected) = (nil, nil, true, false)
        adopted = refreshCount
        return refresh.map { end($0) } ?? ([], nil)
    }

    /// The server rejected a token.
    ///
    /// - Parameters:
    ///   - credentials: The credentials of the request.
    ///   - rejections: How often the same fetch was rejected before.
    /// - Returns: The vote; `.none` if the credentials were not issued here.
    mutating func judge(rejected credentials: String, rejections: Int) -> Retry.Action {
        guard issued.contains(credentials) else { return .none }
        let isCurrent = token?.credentials == credentials && !isRejected
        // The token is the current one, so a second rejection has another reason than its age.
        let isFinal = isCurrent ? rejections > 0 : rejections >= Self.repeatLimit
        guard !isFinal else { return .noRetry(.custom(TokenRejected())) }
        if isCurrent { isRejected = true }
        return .retry
    }
}

/// The tasks of a refresh.
struct TokenRefresh {
    let refreshing: Task<Void, Never>
    let timer: Task<Void, Never>
}

/// A request that waits for a token.
final class TokenWaiter: Cancelable {
    typealias Handler = @Sendable (Result<AccessToken, any Error>) -> any Cancelable

    private let handler: Lock<Handler?>
    private let following = CancelableBag()

    init(_ handler: @escaping Handler) { self.handler = Lock(handler) }

    /// Resumes the waiter. Only the first call counts.
    func resume(with result: Result<AccessToken, any Error>) {
        if let handler = handler.withLock({ $0.take() }) { following.add(handler(result)) }
    }

    /// Cancels this wait and what follows it, but not the refresh.
    func cancel() {
        _ = handler.withLock { $0.take() }
        following.cancel()
    }
}
