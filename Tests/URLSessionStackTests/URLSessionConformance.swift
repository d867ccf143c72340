import CurlStack
import NetworkStack
import NetworkStackConformance
import Testing
import URLSessionStack

/// Every check of the suite that URLSession can pass.
@Suite("URLSessionStack", .serialized)
struct URLSessionConformance {
    static let report = ConformanceReport(name: "URLSessionStack")
    static let subject: ConformanceSubject? = {
        guard let stack = try? Network.URLSessionNetworkStack(configuration: .init()) else { return nil }
        return ConformanceSubject(name: "URLSessionStack", capabilities: stack.capabilities) {
            try Network.URLSessionNetworkStack(configuration: $0)
        }
    }()

    @Test("keeps a promise", .timeLimit(.minutes(1)), arguments: ConformanceCheck.chosen)
    func keeps(_ check: ConformanceCheck) async throws {
        let subject = try #require(Self.subject)
        let issue = KnownIssue.all.first { $0.check == check.name }
        try await subject.prove(check, noting: Self.report, despite: issue)
        if let issue, subject.claims(check) {
            withKnownIssue("\(issue.reason) (\(issue.reference))") { Issue.record("\(check.name)") }
        }
    }

    @Test("names existing checks as known issues")
    func knownIssuesAreChecks() {
        let names = Set(ConformanceCheck.all.map(\.name))
        #expect(KnownIssue.ofVersions.map(\.1.check).filter { !names.contains($0) } == [])
    }
}

extension KnownIssue {
    /// The promises that URLSession on Linux breaks, on the libcurl of this process, and that no stack can repair. Each fails
    /// when it is kept.
    fileprivate static let all = ofVersions.filter { $0.0.contains(CurlLibrary.shared.versionNumber) }.map(\.1)

    fileprivate static let ofVersions: [(Range<UInt32>, KnownIssue)] =
        unseenHeads + rareReplies + [
            (
                0..<0x081400,
                KnownIssue(
                    "One hanging name lookup delays no other transfer",
                    reason:
                        "A cancel during a name lookup blocks the shared queue of all sessions until the lookup ends.",
                    reference: "FoundationNetworking, MultiHandle.swift: libcurl's CURLOPT_QUICK_EXIT is not set"
                )
            ),
            (
                0..<0x080400,
                KnownIssue(
                    "A host's fourth address is reached after three refuse the connection",
                    reason: "libcurl does not try the next address until another event wakes it.",
                    reference: "curl #11920, fixed in 8.4"
                )
            ),
            (
                0..<0x080000,
                KnownIssue(
                    "Unrequested bytes from a server are not taken as a response",
                    reason: "libcurl reads unrequested bytes on an idle connection as the next response.",
                    reference: "curl #10690, fixed in 8.0"
                )
            ),
            (
                0..<UInt32.max,
                KnownIssue(
                    "A redirect with a huge body is followed without reading it all",
                    reason: "URLSession reports a redirect only when its body is complete.",
                    reference:
                        "FoundationNetworking, HTTPURLProtocol.swift: a redirect is reported when its transfer has completed"
                )
            ),
            (
                0..<UInt32.max,
                KnownIssue(
                    "A redirect whose body stalls is followed",
                    reason: "URLSession reports a redirect only when its body is complete.",
                    reference:
                        "FoundationNetworking, HTTPURLProtocol.swift: a redirect is reported when its transfer has completed"
                )
            ),
            (
                0..<UInt32.max,
                KnownIssue(
                    "A redirect whose body comes slowly is followed",
                    reason: "URLSession reports neither the head of a redirect nor its body's progress.",
                    reference:
                        "FoundationNetworking, HTTPURLProtocol.swift: a redirect is reported when its transfer has completed"
                )
            ),
            (
                0..<UInt32.max,
                KnownIssue(
                    "A request with Connection: close ends only its connection",
                    reason: "URLSession sends the field, but keeps the connection if the server does.",
                    reference: "FoundationNetworking, EasyHandle.swift: libcurl's CURLOPT_FORBID_REUSE is not set"
                )
            ),
            (
                0x080800..<0x081400,
                KnownIssue(
                    "A redirect from /b/c/d;p?q to ? leads to /b/c/d;p?",
                    reason: "libcurl drops an empty query.",
                    reference: "curl, lib/urlapi.c: query_present"
                )
            ),
            (
                0x081400..<UInt32.max,
                KnownIssue(
                    "A redirect from /b/c/d;p?q to /a%2Fb%2f%2e%2E/c leads to /a%2Fb%2f%2e%2E/c",
                    reason: "libcurl writes escapes in capital letters.",
                    reference: "curl, lib/urlapi.c: urlencode_str"
                )
            ),
        ]

    /// Heads whose status line URLSession does not deliver: libcurl accepts more than is legal.
    private static let unseenHeads: [(Range<UInt32>, KnownIssue)] =
        [
            (0..<0x080E00, "A status line HTTP/-1.1 200 OK over HTTP/1.1 is no response"),
            (0..<0x080E00, "A status line HTTP/:1.1 200 OK over HTTP/1.1 is no response"),
            (0..<0x080E00, "A status line HTTP/<tab>1.1 200 OK over HTTP/1.1 is no response"),
            (0x080E00..<UInt32.max, "A status line HTTP/3.7 200 OK over HTTP/1.1 is no response"),
            (0..<UInt32.max, "A status line HTTP/2 200 OK over HTTP/1.1 is no response"),
            (0..<UInt32.max, "A Transfer-Encoding of chunked over HTTP/1.0 is refused"),
        ]
        .map { versions, check in
            (
                versions,
                KnownIssue(
                    check,
                    reason: "URLSession does not deliver the version of HTTP, and libcurl accepts this one.",
                    reference: "FoundationNetworking, HTTPMessage.swift: any text is a version; curl, lib/http.c"
                )
            )
        }
        + [
            "A status line HTTP/1.1 2000 OK over HTTP/1.1 is no response",
            "A head line that libcurl rejects is refused by libcurl's limit",
        ]
        .map { check in
            (
                0x080E00..<UInt32.max,
                KnownIssue(
                    check,
                    reason: "URLSession reports this failure of libcurl as an unknown error.",
                    reference: "FoundationNetworking, EasyHandle.swift: the codes of libcurl that have an error"
                )
            )
        }
        + [
            (
                0x080E00..<UInt32.max,
                KnownIssue(
                    "Escaped dots of a path are sent as interceptors see them",
                    reason: "libcurl treats an escaped dot as a dot, and URLSession does not disable that.",
                    reference: "curl, lib/urlapi.c: dedotdotify; FoundationNetworking sets no CURLOPT_PATH_AS_IS"
                )
            )
        ]
}

extension KnownIssue {
    /// Replies that are valid but rare, or look valid but are not, and the cost of waiting for one.
    fileprivate static let rareReplies: [(Range<UInt32>, KnownIssue)] = [
        (
            0..<UInt32.max,
            KnownIssue(
                "A GET whose keep-alive connections die is sent at most three times",
                reason: "libcurl repeats a request up to five times.",
                reference: "curl, lib/transfer.c: CONN_MAX_RETRIES"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "A header value of blanks is read as empty",
                reason: "URLSession refuses a head with such a field.",
                reference: "FoundationNetworking, HTTPMessage.swift: trimSPHTPrefix"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "A status line may end after its status",
                reason: "URLSession refuses a status line without a second blank.",
                reference: "FoundationNetworking, HTTPMessage.swift: splitRequestLine"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "gzip of two members is decoded to its end",
                reason: "libcurl refuses data after the first member.",
                reference: "curl, lib/content_encoding.c: gzip_unencode_write"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "gzip truncated over HTTP/1.1 fails",
                reason: "libcurl accepts truncated gzip data as complete.",
                reference: "curl, lib/content_encoding.c: gzip_close"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "zstd with a window over 8 MiB fails",
                reason: "libcurl does not limit the window.",
                reference: "curl, lib/content_encoding.c: zstd_do_init sets no ZSTD_d_windowLogMax"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "Waiting for a response on a new connection uses no processor time",
                reason: "URLSession keeps watching for room to send while libcurl waits for a response.",
                reference: "FoundationNetworking, MultiHandle.swift: createSources keeps the source for writing"
            )
        ),
    ]
}
