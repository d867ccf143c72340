public import FoundationEssentials

extension HTTP {
    /// Cookies that are taken from responses and go along with requests (RFC 6265bis), the same on every stack.
    ///
    /// No stack keeps cookies unless its ``Network/Configuration/cookies`` is a jar. One jar can serve several stacks. It
    /// is kept in memory; ``save(to:includingSession:)`` and ``load(from:)`` keep it in a file.
    ///
    /// Every hop of a fetch counts: redirects set cookies and get those of where they lead. A `Cookie` field of a request
    /// stays, and goes before the jar's; of two with one name the request's counts. TRACE, which has the request sent back, gets
    /// none of the jar's. A cookie for a whole domain is taken only where that domain is at or below the registrable domain of the
    /// host that sets it, and is sent only where it is at or below that of the request's host. At most 180 cookies of a domain and 3000 in all are kept, none for longer than 400 days.
    ///
    /// Cookies are text: one whose bytes are no UTF-8 is read as Latin-1, as every header field is, and goes back as UTF-8.
    public final class CookieJar: Sendable {
        private let store: Lock<CookieStore>
        private let clock: @Sendable () -> Date

        /// Makes an empty jar.
        ///
        /// - Parameters:
        ///   - publicSuffixes: The domains under which anyone can register a name: no cookie is for the whole of one.
        ///   - clock: Tells the time. It is called within fetches, by whoever began one and on threads that the stack needs: it
        ///     must neither block nor use a stack or this jar.
        public init(publicSuffixes: PublicSuffixList = .system, clock: @escaping @Sendable () -> Date = { Date() }) {
            store = Lock(CookieStore(suffixes: publicSuffixes))
            self.clock = clock
        }

        /// Every cookie that is not over, the oldest first.
        public var cookies: [Cookie] {
            let now = clock()
            return store.withLock { $0.all(now: now) }
        }

        /// The cookies that go along with a request, in the order they are sent in.
        ///
        /// - Parameter url: The request's URL.
        /// - Returns: The cookies; none for what is no http or https URL.
        public func cookies(for url: URL) -> [Cookie] {
            guard let scope = try? CookieScope(url) else { return [] }
            let now = clock()
            return store.withLock { $0.cookies(for: scope, now: now) }
        }

        /// Takes `Set-Cookie` fields of a response. What the rules do not allow is passed over, as the rules want it.
        ///
        /// - Parameters:
        ///   - fields: The values of the fields, one each.
        ///   - url: The URL that answered; nothing is taken from what is no http or https URL.
        /// - Returns: Whether anything was taken.
        @discardableResult
        public func take(_ fields: [String], from url: URL) -> Bool {
            guard !fields.isEmpty, let scope = try? CookieScope(url) else { return false }
            let now = clock()
            return store.withLock { store in
                fields.reduce(false) { store.store($1, from: scope, now: now) || $0 }
            }
        }

        /// Keeps a cookie of one's own, in the place of the one with its name, domain and path that goes as far: to that host
        /// only, or below it, too.
        ///
        /// - Parameter cookie: The cookie; one that is over takes the other away.
        public func set(_ cookie: Cookie) {
            let now = clock()
            store.withLock { $0.set(cookie, now: now) }
        }

        /// Lets go of cookies.
        ///
        /// - Parameter condition: Which ones. It must not use the jar.
        public func removeAll(where condition: (Cookie) -> Bool = { _ in true }) {
            store.withLock { $0.removeAll(where: condition) }
        }

        /// Ends the session: lets go of the cookies that have no date.
        public func endSession() { removeAll { $0.expires == nil } }

        /// Writes the cookies to a file in Netscape's format, which curl reads. Only its owner can read it (mode 0600), and
        /// whoever reads it meanwhile sees the old file or the new one, whole.
        ///
        /// A cookie with a tab in it is left out: the format cannot say it.
        ///
        /// - Parameters:
        ///   - path: The file, which is replaced.
        ///   - includingSession: Whether the cookies without a date are written too, as curl does.
        /// - Throws: ``FileError``.
        public func save(to path: String, includingSession: Bool = false) throws(FileError) {
            let kept = includingSession ? cookies : cookies.filter { $0.expires != nil }
            try PrivateFile.write(Data(CookieFile.text(kept).utf8), to: path)
        }

        /// Adds the cookies of a file in Netscape's format to the jar. Lines that are no cookie are passed over, and cookies
        /// that are over, which take none away.
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

        /// A request's headers with the jar's cookies.
        func adding(to headers: Headers, for scope: CookieScope) -> Headers {
            let now = clock()
            let found = store.withLock { $0.cookies(for: scope, now: now) }
            guard !found.isEmpty else { return headers }
            // One field only (section 5.8.3); the request's own pairs come first.
            let own = headers.values(for: .cookie).filter { !$0.isEmpty }
            let names = Set(own.flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }.map { Self.name(of: $0) })
            var headers = headers
            let added = found.filter { $0.name.isEmpty || !names.contains($0.name) }.map(\.pair)
            headers[.cookie] = (own + added).joined(separator: "; ")
            return headers
        }

        /// By bytes: with a combining mark behind it, a sign is another character.
        private static func name(of pair: Substring.UTF8View) -> String {
            String(decoding: pair.prefix { $0 != UInt8(ascii: "=") }.withoutOuterBlanks, as: UTF8.self)
        }
    }
}

extension HTTP.CookieJar: CustomStringConvertible {
    /// How many cookies there are; their values are secrets.
    public var description: String { "a jar with \(cookies.count) cookies" }
}

extension HTTP.CookieJar: CustomReflectable {
    /// How many cookies there are; their values are secrets.
    public var customMirror: Mirror { Mirror(self, children: ["count": cookies.count]) }
}
