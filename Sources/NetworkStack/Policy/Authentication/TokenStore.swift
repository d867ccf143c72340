internal import FoundationEssentials

/// Stores a token between runs of a program, or during one.
///
/// A ``TokenAuthenticator`` calls its functions one at a time. Authenticators should not share a store.
public protocol TokenStore: Sendable {
    /// Returns the stored token, or `nil` if there is none.
    ///
    /// - Throws: Any error; every request that waits for a token then fails with it.
    func load() async throws -> AccessToken?

    /// Stores a token in place of the previous one.
    ///
    /// - Parameter token: The token, or `nil` to remove the stored one.
    /// - Throws: Any error.
    func save(_ token: AccessToken?) async throws
}

/// Calls a store's functions one at a time, in order.
final class SerialTokenStore: Sendable {
    private let store: any TokenStore
    private let last = Lock<Task<Void, Never>?>(nil)

    init(_ store: any TokenStore) { self.store = store }

    func load() async throws -> AccessToken? { try await inTurn { try await $0.load() } }

    /// Saves a token.
    ///
    /// - Parameter current: Returns the token to save, once it is this call's turn.
    /// - Throws: The store's error.
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

/// Keeps a token in memory.
public final class MemoryTokenStore: TokenStore {
    private let token: Lock<AccessToken?>

    /// Makes a store.
    ///
    /// - Parameter token: The first token, if there is one.
    public init(_ token: AccessToken? = nil) { self.token = Lock(token) }

    /// Returns the stored token.
    public func load() -> AccessToken? { token.withLock { $0 } }

    /// Stores a token.
    public func save(_ token: AccessToken?) { self.token.withLock { $0 = token } }
}

/// Stores a token in a JSON file that only its owner can read (mode 0600).
///
/// The file is replaced atomically, so a crash leaves the old token or the new one. ``FileError`` is thrown for a file that
/// others may read or write (`EACCES`), a link (`ELOOP`), and anything that is no file (`EINVAL`). The folder must exist.
public struct FileTokenStore: TokenStore {
    private let path: String

    /// Makes a store; the file need not exist yet.
    ///
    /// - Parameter path: The file.
    public init(path: String) { self.path = path }

    /// Reads the file.
    ///
    /// - Throws: ``FileError``, or the error of decoding its JSON.
    public func load() throws -> AccessToken? {
        try PrivateFile.read(path).map { try JSONDecoder().decode(AccessToken.self, from: $0) }
    }

    /// Replaces the file, or removes it.
    ///
    /// - Throws: ``FileError``, or `EncodingError` for a date that JSON cannot represent.
    public func save(_ token: AccessToken?) throws {
        if let token {
            try PrivateFile.write(try JSONEncoder().encode(token), to: path)
        } else {
            try PrivateFile.remove(path)
        }
    }
}
