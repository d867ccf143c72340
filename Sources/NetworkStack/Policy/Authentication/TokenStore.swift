internal import FoundationEssentials

/// Keeps a token from one run of a program to the next, or for as long as it runs.
///
/// Its functions are called one at a time by a ``TokenAuthenticator``; several authenticators should not share one store.
public protocol TokenStore: Sendable {
    /// The token that was kept, or `nil` if there is none.
    ///
    /// - Throws: What went wrong; every request that waits for a token then fails with it.
    func load() async throws -> AccessToken?

    /// Keeps a token in place of the one before.
    ///
    /// - Parameter token: The token, or `nil` to forget the one there is.
    /// - Throws: What went wrong.
    func save(_ token: AccessToken?) async throws
}

/// A store whose functions are called one at a time, in the order they were asked for.
final class SerialTokenStore: Sendable {
    private let store: any TokenStore
    private let last = Lock<Task<Void, Never>?>(nil)

    init(_ store: any TokenStore) { self.store = store }

    func load() async throws -> AccessToken? { try await inTurn { try await $0.load() } }

    /// Keeps a token.
    ///
    /// - Parameter current: The token to keep, asked for when it is its turn.
    /// - Throws: What the store threw.
    func save(_ current: @escaping @Sendable () -> AccessToken?) async throws {
        try await inTurn { try await $0.save(current()) }
    }

    private func inTurn<Value: Sendable>(
        _ use: @escaping @Sendable (any TokenStore) async throws -> Value
    ) async throws -> Value {
        let turn = last.withLock { last in
            let turn = Task { [store, previous = last] in
                await previous?.value
                return try await use(store)
            }
            last = Task { _ = await turn.result }
            return turn
        }
        return try await turn.value
    }
}

/// Keeps a token for as long as the program runs.
public final class MemoryTokenStore: TokenStore {
    private let token: Lock<AccessToken?>

    /// Makes a store.
    ///
    /// - Parameter token: The first token, if there is one.
    public init(_ token: AccessToken? = nil) { self.token = Lock(token) }

    /// The token that was kept last.
    public func load() -> AccessToken? { token.withLock { $0 } }

    /// Keeps a token.
    public func save(_ token: AccessToken?) { self.token.withLock { $0 = token } }
}

/// Keeps a token in a file that only its owner may read (mode 0600), as JSON.
///
/// The file is replaced in one step, so a crash leaves the old token or the new. One that others may read or write, a link,
/// and anything that is no file is not read: ``FileError`` (`EACCES`, `ELOOP`, `EINVAL`). Its folder must exist.
public struct FileTokenStore: TokenStore {
    private let path: String

    /// Makes a store; the file need not exist yet.
    ///
    /// - Parameter path: The file.
    public init(path: String) { self.path = path }

    /// Reads the file.
    ///
    /// - Throws: ``FileError``, or what is wrong with the JSON in it.
    public func load() throws -> AccessToken? {
        try PrivateFile.read(path).map { try JSONDecoder().decode(AccessToken.self, from: $0) }
    }

    /// Replaces the file, or removes it.
    ///
    /// - Throws: ``FileError``, or `EncodingError` for a date that JSON has no number for.
    public func save(_ token: AccessToken?) throws {
        if let token {
            try PrivateFile.write(try JSONEncoder().encode(token), to: path)
        } else {
            try PrivateFile.remove(path)
        }
    }
}
