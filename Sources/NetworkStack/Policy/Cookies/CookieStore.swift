internal import FoundationEssentials

/// The cookies of a jar as a value (RFC 6265bis sections 5.7 and 5.8), without a clock or a lock.
struct CookieStore {
    private struct Entry {
        var cookie: HTTP.Cookie
        /// Among cookies with equally long paths, the older ones come first.
        let number: UInt64
        var usedAt: Date

        func isOver(at now: Date) -> Bool { cookie.expires.map { $0 <= now } ?? false }
    }

    /// The longest life of a cookie, in seconds (section 5.5).
    static let longestLife: Double = 400 * 86_400
    /// The most cookies of one domain, and of all; the least recently used are removed first.
    static let (domainLimit, limit) = (180, 3000)

    private let suffixes: HTTP.PublicSuffixList
    private var entries: [String: [Entry]] = [:]
    private var count = 0
    private var nextNumber: UInt64 = 0

    init(suffixes: HTTP.PublicSuffixList) { self.suffixes = suffixes }

    // MARK: Storing

    /// Stores a `Set-Cookie` field of a response. Returns whether the rules allow it.
    mutating func store(_ field: String, from scope: CookieScope, now: Date) -> Bool {
        guard let received = SetCookie(field) else { return false }
        var domain = received.domain
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        guard domain.isEmpty || CookieScope.domain(domain, matches: scope.host) else { return false }
        // A domain that is not longer than the host's public suffix is shared by strangers. An address is no domain.
        let suffix = suffixes.publicSuffix(of: scope.host)
        if !domain.isEmpty, domain.utf8.count <= suffix.utf8.count || CookieScope.isAddress(domain) {
            guard domain == scope.host else { return false }
            domain = ""
        }
        guard scope.isSecure || !received.isSecure else { return false }
        let cookie = try? HTTP.Cookie(
            name: received.name,
            value: received.value,
            domain: domain.isEmpty ? scope.host : domain,
            isHostOnly: domain.isEmpty,
            path: received.path ?? scope.defaultPath,
            expires: received.maxAge.map { now.addingTimeInterval(Double($0)) } ?? received.expires,
            isSecure: received.isSecure,
            isHTTPOnly: received.isHTTPOnly
        )
        guard let cookie, cookie.keepsPrefix, scope.isSecure || !overlaysSecure(cookie, now: now) else { return false }
        // `__Host-` requires a `Path` attribute, even if the default is the root (section 5.7 step 20).
        guard received.hasPathAttribute || !cookie.hasHostPrefix else { return false }
        set(cookie, now: now)
        return true
    }

    /// Stores a cookie; it replaces the one with the same name, domain and path. An expired one only removes that.
    mutating func set(_ cookie: HTTP.Cookie, now: Date) {
        var cookie = cookie
        let latest = now.addingTimeInterval(Self.longestLife)
        // Written so that a date that is NaN gets the limit, too.
        if let expires = cookie.expires, !(expires < latest) { cookie.expires = latest }
        var kept = entries[cookie.domain] ?? []
        let old = kept.firstIndex { entry in
            entry.cookie.name == cookie.name && entry.cookie.path == cookie.path
                && entry.cookie.isHostOnly == cookie.isHostOnly
        }
        let entry = Entry(cookie: cookie, number: old.map { kept[$0].number } ?? nextNumber, usedAt: now)
        nextNumber += 1
        if let old { kept.remove(at: old) }
        if !entry.isOver(at: now) { kept.append(entry) }
        if kept.count > Self.domainLimit { kept = Self.thinned(kept, to: Self.domainLimit, now: now) }
        replace(cookie.domain, with: kept)
        if count > Self.limit { thin(now: now) }
    }

    /// Whether a cookie that came over http would hide a secure one that has not expired.
    private func overlaysSecure(_ cookie: HTTP.Cookie, now: Date) -> Bool {
        entries.contains { domain, kept in
            (CookieScope.domain(domain, matches: cookie.domain) || CookieScope.domain(cookie.domain, matches: domain))
                && kept.contains { entry in
                    entry.cookie.isSecure && !entry.isOver(at: now) && entry.cookie.name == cookie.name
                        && CookieScope.path(entry.cookie.path, matches: cookie.path)
                }
        }
    }

    // MARK: Retrieving

    /// The cookies for a request, in order.
    mutating func cookies(for scope: CookieScope, now: Date) -> [HTTP.Cookie] {
        guard !entries.isEmpty else { return [] }
        var found: [Entry] = []
        let suffix = suffixes.publicSuffix(of: scope.host)
        var domain = scope.host[...]
        while true {
            if var kept = entries[String(domain)] {
                kept.removeAll { $0.isOver(at: now) }
                for index in kept.indices where scope.matches(kept[index].cookie) {
                    kept[index].usedAt = now
                    found.append(kept[index])
                }
                replace(String(domain), with: kept)
            }
            guard let dot = domain.firstIndex(of: ".") else { break }
            domain = domain[domain.index(after: dot)...]
            // A cookie from a file, or under another list, may be for more than one site.
            guard domain.utf8.count > suffix.utf8.count else { break }
        }
        found.sort { left, right in
            let (one, other) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return one == other ? left.number < right.number : one > other
        }
        return found.map(\.cookie)
    }

    /// All cookies that have not expired, in the order of their creation.
    func all(now: Date) -> [HTTP.Cookie] {
        entries.values.joined().filter { !$0.isOver(at: now) }.sorted { $0.number < $1.number }.map(\.cookie)
    }

    /// Removes the cookies that match a condition.
    mutating func removeAll(where condition: (HTTP.Cookie) -> Bool) {
        for (domain, kept) in entries { replace(domain, with: kept.filter { !condition($0.cookie) }) }
    }

    // MARK: Keeping it small

    private mutating func replace(_ domain: String, with kept: [Entry]) {
        count += kept.count - (entries[domain]?.count ?? 0)
        entries[domain] = kept.isEmpty ? nil : kept
    }

    private mutating func thin(now: Date) {
        let kept = Self.thinned(Array(entries.values.joined()), to: Self.limit * 9 / 10, now: now)
        entries = Dictionary(grouping: kept) { $0.cookie.domain }
        count = kept.count
    }

    /// Removes expired cookies first, then those that are not secure, then the least recently used.
    private static func thinned(_ entries: [Entry], to limit: Int, now: Date) -> [Entry] {
        let current = entries.filter { !$0.isOver(at: now) }
        guard current.count > limit else { return current }
        let ranked = current.sorted { left, right in
            if left.cookie.isSecure != right.cookie.isSecure { return left.cookie.isSecure }
            return left.usedAt == right.usedAt ? left.number > right.number : left.usedAt > right.usedAt
        }
        return ranked.prefix(limit).sorted { $0.number < $1.number }
    }
}
