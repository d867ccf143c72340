import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Redirects that a fetch must not follow.
    static let redirectRefusals: [ConformanceCheck] =
        [
            "mailto:a@b.test", "javascript:1", "file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x",
            "ws://127.0.0.1/",
            "https:/x", "http:///x", "http://", "https://", "http://127.0.0.1:99999/", "http://127.0.0.1:0/",
            "http://127.0.0.1:port/", "http://127.0.0.1:-1/", "http://a b.test/", "http://[::1/",
            "http://\(String(repeating: "a", count: 64)).test/", "//", "http:", "http:next",
            "http://127.0.0.1\\@b.test/", "//a.test\\@b.test/", "//a.test\\b", "\\\\a.test", "/\\a.test/b", "a\\b",
            "http://a@b:80@c.test/", "//[::1]@c.test/", "//a b@c.test/", "//a@b%zz@c.test/", "//\u{FF41}\u{FF42}.test/",
        ].map { refused($0) }
        + [
            refused("/a\u{1}b", called: "a control character", needs: [.network]),
            refused("/a\u{7F}b", called: "a delete character", needs: [.network]),
            refused("/a\tb", called: "a tab"), refused("/a#b\tc", called: "a tab in its fragment"),
            refused("/" + String(repeating: "a", count: 70_000), called: "a text of 70,000 bytes"),
            ConformanceCheck("A redirect with two different Locations is refused", needs: [.headerOrder]) { subject in
                let peer = try subject.serve { request in
                    guard request.path.hasSuffix("/start") else { return .ok("there") }
                    return .status(302, headers: [("Location", "/one"), ("Location", "/two")])
                }
                guard case .invalidRedirect = try await subject.client().refusal(.init(url: peer.url("/start"))) else {
                    throw ConformanceFailure("expected an invalid redirect")
                }
                try expectEqual(peer.requests().count, 1, "requests")
            },
            ConformanceCheck("A redirect without a Location is an ordinary response") { subject in
                let peer = try subject.serve { .status(Int($0.path.suffix(3)) ?? 0) }
                let client = try subject.client()
                for code in [301, 302, 303, 307, 308] {
                    let (status, _, _) = try await client.unsuccessful(HTTP.Request(url: peer.url("/\(code)")))
                    try expectEqual(status.rawValue, code, "the status")
                }
                try expectEqual(peer.requests().count, 5, "requests")
            },
            ConformanceCheck("A redirect with an empty Location is an ordinary response") { subject in
                let peer = try subject.serve { _ in .status(302, headers: [("Location", "")]) }
                let (status, _, _) = try await subject.client().unsuccessful(HTTP.Request(url: peer.url("/")))
                try expectEqual(status, .found, "the status")
                try expectEqual(peer.requests().count, 1, "requests")
            },
            ConformanceCheck("A redirect without a Location keeps its body or fails") { subject in
                for code in [301, 302, 303, 305, 307, 308] {
                    for fields in [[], [(name: "Location", value: "")]] {
                        let peer = try subject.serve { _ in .status(code, "where to?", headers: fields) }
                        try await keepsContent(of: peer, code, subject)
                    }
                }
            },
        ]

    /// If a stack cannot deliver the body, the fetch must not end as if it were empty.
    private static func keepsContent(of peer: ConformancePeer, _ code: Int, _ subject: ConformanceSubject) async throws
    {
        let seen = Lock(Data())
        let decoding = BoundedClient.ErrorDecoding { payload, _ in
            seen.withLock { $0 = payload ?? Data() }
            return nil
        }
        switch try await subject.client().failure(HTTP.Request(url: peer.url("/")), decoding: decoding) {
        case .http(let status, _, _):
            try expectEqual(status.rawValue, code, "the status")
            try expectBytes(seen.withLock { $0 }, "where to?".utf8)
        case .transport(let error as any HTTPTransportError, _): try expectEqual(error.kind, .malformed, "\(error)")
        case let error: throw ConformanceFailure("saw \(error)")
        }
    }

    private static func refused(
        _ location: String,
        called name: String? = nil,
        needs: Set<HTTP.Capability> = []
    ) -> ConformanceCheck {
        ConformanceCheck("A redirect to \(name ?? location) is refused", needs: needs) { subject in
            let peer = try subject.serve { request in
                request.path.hasSuffix("/start") ? .redirect(302, to: location) : .ok("there")
            }
            let client = try subject.client()
            switch try await client.outcome(of: HTTP.Request(url: peer.url("/start"))) {
            case .failure(.invalidRedirect): break
            // The field may be refused before the redirect (RFC 9110 section 5.5).
            case .failure(.transport(let error as any HTTPTransportError, _))
            where error.kind == .malformed && !subject.capabilities.supports(.nonconformingHeads):
                break
            case let outcome: throw ConformanceFailure("expected an invalid redirect, saw \(outcome.summary)")
            }
            // The next request comes after any request that the redirect might have caused.
            _ = try await client.get(peer.url("/after"))
            try expectEqual(peer.requests().count, 2, "requests")
        }
    }
}
