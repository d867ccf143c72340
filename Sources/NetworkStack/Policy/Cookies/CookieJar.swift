public import FoundationEssentials

extension HTTP {
    /// Stores cookies from responses and adds them to requests (RFC 6265bis), in the same way on every stack.
    ///
    /// A stack has no cookies unless its ``Network/Configuration/cookies`` is a jar. Several stacks can share one jar. It is kept
    /// in memory; ``save(to:includingSession:)`` and ``load(from:)`` write and read a file.
    ///
    /// Cookies are handled for every hop of a fetch, so redirects may set them, too. A request's own `Cookie` field comes first
    /// and overrides the jar's cookies of the same name. TRACE gets none of the jar's, because the server returns the request. A
    /// cookie for all hosts below a public suffix, such as `co.uk`, is neither stored nor sent. The list of those is
    /// ``PublicSuffixList/system``, which is empty if the system has none. A jar keeps at most 180 cookies per domain and 3,000 in
    /// total, for at most 400 days.
    ///
    /// A cookie's bytes that are not UTF-8 are read as Latin-1, like every header field, and are sent as UTF-8.
    public final class CookieJar: Sendable {
        private let store: Lock<CookieStore>
        private let clock: @Sendable () -> Date

        /// Makes an empty jar.
        ///
        /// - Parameters:
        ///   - publicSuffixes: The domains under which anyone can register a name. They cannot have cookies for the whole domain.
        ///   - clock: Returns the current time. It is called during fetches, on the caller's thread and on threads of the stack,
        ///     so it must neither block nor use a stack or this jar.
        public init(publicSuffixes: PublicSuffixList = .system, clock: @escaping @Sendable () -> Date = { Date() }) {
            store = Lock(CookieStore(suffixes: publicSuffixes))
            self.clock = clock
        }

        /// All cookies that have not expired, the oldest first.
        public var cookies: [Cookie] {
            let now = clock()
            return store.withLock { $0.all(now: now) }
        }

        /// Returns the cookies for a request, in the order in which they are sent.
        ///
        /// - Parameter url: The request's URL.
        /// - Returns: The cookies; none if the URL is not http or https.
        public func cookies(for url: URL) -> [Cookie] {
            guard let scope = try? CookieScope(url) else { return [] }
            let now = clock()
            return store.withLock { $0.cookies(for: scope, now: now) }
        }

        /// Stores the cookies of a response's `Set-Cookie` fields. Cookies that violate the rules are ignored.
        ///
        /// - Parameters:
        ///   - fields: The values of the fields, one each.
        ///   - url: The URL of the response; cookies are ignored if it is not http or https.
        /// - Returns: Whether any cookie was stored.
        @discardableResult
        public func take(_ fields: [String], from url: URL) -> Bool {
            guard !fields.isEmpty, let scope = try? CookieScope(url) else { return false }
            let now = clock()
            return store.withLock { store in
                fields.reduce(false) { store.store($1, from: scope, now: now) || $0 }
            }
        }

        /// Stores a cookie. It replaces the one with the same name, domain, path and ``Cookie/isHostOnly``.
        ///
        /// - Parameter cookie: The cookie; an expired one removes the other.
        public func set(_ cookie: Cookie) {
            let now = clock()
            store.withLock { $0.set(cookie, now: now) }
        }

        /// Removes cookies.
        ///
        /// - Parameter condition: Returns `true` for those to remove. It is called for each cookie that the jar has at this moment. A
        ///   cookie that it replaces meanwhile stays.
        public func removeAll(where condition: (Cookie) -> Bool = { _ in true }) {
            let removed = Set(cookies.filter(condition))
            store.withLock { $0.removeAll { removed.contains($0) } }
        }

        /// Removes the session cookies.
        public func endSession() { removeAll { $0.expires == nil } }

        /// Writes the cookies to a file in Netscape's format, which curl reads. Only its owner can read it (mode 0600). It is
        /// replaced atomically.
        ///
        /// A cookie with a tab is omitted, because the format cannot represent it.
        ///
        /// - Parameters:
        ///   - path: The file, which is replaced.
        ///   - includingSession: Whether session cookies are written, too, as curl does.
        /// - Throws: ``FileError``.
        public func save(to path: String, includingSession: Bool = false) throws(FileError) {
            let kept = includingSession ? cookies : cookies.filter { $0.expires != nil }
            try PrivateFile.write(Data(CookieFile.text(kept).utf8), to: path)
        }

        /// Adds the cookies of a file in Netscape's format. Invalid lines and expired cookies are ignored.
        ///
        /// - Parameter path: The file.
        /// - Throws: ``FileError``.
        public func load(from path: String) throws(FileError) {
            let lines = try CookieFile.lines(of: path)
            let now = clock()
            store.withLock { store in
                for cookie in CookieFile.cookies(in: lines) where cookie.expires.map({ $0 > now }) ?? true {
                    store.set(cookie, now: now)
                }
            }
        }

        /// Returns a request's header fields with the jar's cookies.
        func adding(to headers: Headers, for scope: CookieScope) -> Headers {
            let now = clock()
            let found = store.withLock { $0.cookies(for: scope, now: now) }
            guard !found.isEmpty else { return headers }
            // One field only (section 5.8.3); the request's pairs come first.
            let own = headers.values(for: .cookie).filter { !$0.isEmpty }
            let names = Set(own.flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }.map { Self.name(of: $0) })
            var headers = headers
            let added = found.filter { $0.name.isEmpty || !names.contains($0.name) }.map(\.pair)
            headers[.cookie] = (own + added).joined(separator: "; ")
            return headers
        }

        /// Compares bytes: an `=` with a combining mark is another `Character`.
        private static func name(of pair: Substring.UTF8View) -> String {
            String(decoding: pair.prefix { $0 != UInt8(ascii: "=") }.withoutOuterBlanks, as: UTF8.self)
        }
    }
}

extension HTTP.CookieJar: CustomStringConvertible {
    /// The number of cookies; their values are secrets.
    public var description: String { "a jar with \(cookies.count) cookies" }
}

extension HTTP.CookieJar: CustomReflectable {
    /// The number of cookies; their values are secrets.
    public var customMirror: Mirror { Mirror(self, children: ["count": cookies.count]) }
}
