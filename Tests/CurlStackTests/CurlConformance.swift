import CurlStack
import NetworkStack
import NetworkStackConformance
import Testing

/// Every promise of the suite, kept by the curl stack. Every version of libcurl has known issues.
@Suite("CurlStack", .serialized)
struct CurlConformance {
    static let report = ConformanceReport(name: "CurlStack")
    static let subject = ConformanceSubject(
        name: "CurlStack",
        capabilities: .init(),
        make: { try Network.CurlNetworkStack(configuration: $0) },
        preconnect: { try await $0.preconnect(to: $1) }
    )

    @Test("keeps a promise", .timeLimit(.minutes(1)), arguments: ConformanceCheck.chosen)
    func keeps(_ check: ConformanceCheck) async throws {
        let issue = KnownIssue.all.first { $0.check == check.name }
        try await Self.subject.prove(check, noting: Self.report, despite: issue)
        if let issue { withKnownIssue("\(issue.reason) (\(issue.reference))") { Issue.record("\(check.name)") } }
    }

    @Test("names existing checks as known issues")
    func knownIssuesAreChecks() {
        let names = Set(ConformanceCheck.all.map(\.name))
        #expect(KnownIssue.ofVersions.map(\.1.check).filter { !names.contains($0) } == [])
    }

    @Test("has every capability")
    func capabilities() throws {
        #expect(try Network.CurlNetworkStack().capabilities.unsupported.isEmpty)
    }
}

extension KnownIssue {
    /// The promises that the libcurl of this process breaks and no stack can repair. Each fails when it is kept.
    fileprivate static let all = (ofVersions + unreadFaults + unnamedFields).filter {
        $0.0.contains(CurlLibrary.shared.versionNumber)
    }
    .map(\.1)

    /// libcurl detects these faults when it next reads (8.13 and newer) or sends (8.1 to 8.12). If it does neither, the fetch ends by its
    /// idle timeout.
    private static let unreadFaults: [(Range<UInt32>, KnownIssue)] = ConformanceCheck.all.map(\.name)
        .filter {
            $0.hasPrefix("Half a body, then ") && $0.hasSuffix("fails at once")
                || $0.hasPrefix("Before a head, ")
        }
        .map { check in
            (
                0x080100..<UInt32.max,
                KnownIssue(
                    check,
                    reason: "libcurl reports the fault of a connection only when it uses it again.",
                    reference: "curl, lib/http2.c: h2_progress_ingress and cf_h2_recv",
                    isIntermittent: true
                )
            )
        }

    /// Before 8.5, the error does not name the field that HTTP/2 does not permit.
    private static let unnamedFields: [(Range<UInt32>, KnownIssue)] = ConformanceCheck.all.map(\.name)
        .filter { $0.hasPrefix("The error names a response's ") && $0.hasSuffix(" field over HTTP/2") }
        .map { check in
            (
                0..<0x080500,
                KnownIssue(
                    check,
                    reason: "libcurl drops the error text of nghttp2.",
                    reference: "curl, lib/http2.c: error_callback, which reports it since 8.5 (19a82c12c0)"
                )
            )
        }

    fileprivate static let ofVersions: [(Range<UInt32>, KnownIssue)] = [
        (
            0x080000..<UInt32.max,
            KnownIssue(
                "A server that renegotiates as itself keeps its connection",
                reason:
                    "libcurl does not reuse a connection of HTTP/1.1 with unread bytes, such as those of a handshake.",
                reference: "curl #10690"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "No other fetch is affected by HTTP/1.1 alone",
                reason: "libcurl reuses a connection of HTTP/1.1 for a request that could negotiate HTTP/2.",
                reference: "curl, lib/url.c: ConnectionExists; lib/conncache.c"
            )
        ),
        (
            0x080100..<UInt32.max,
            KnownIssue(
                "A stream reset with NO_ERROR within its body fails",
                reason: "libcurl treats a reset with NO_ERROR as the end of the body.",
                reference: "curl #6015; on_stream_close and http2_handle_stream_close of lib/http2.c"
            )
        ),
        (
            0x080100..<0x080D00,
            KnownIssue(
                "HTTP/1.1 text over HTTP/2 is a protocol error",
                reason: "libcurl reports the fault of a connection only when it sends on it.",
                reference: "curl, lib/http2.c: should_close_session, which 8.13 asks before it reads"
            )
        ),
        (
            0x080C00..<0x080D00,
            KnownIssue(
                "A proxy of https receives credentials with percent signs unchanged",
                reason: "libcurl keeps no TLS connection to a proxy for requests of http.",
                reference: "curl, lib/url.c: url_match_ssl_use"
            )
        ),
        (
            0x081100..<UInt32.max,
            KnownIssue(
                "A proxy of https receives credentials with percent signs unchanged",
                reason: "libcurl keeps no TLS connection to a proxy for requests of http.",
                reference: "curl, lib/url.c: url_match_ssl_use"
            )
        ),
        (
            0x080D00..<0x081000,
            KnownIssue(
                "A prior-knowledge request joins a connection without a response yet",
                reason: "libcurl shares a cleartext connection only after its first response.",
                reference: "curl #18177, fixed in 8.16"
            )
        ),
        (
            0x080D00..<0x081000,
            KnownIssue(
                "Many streams of two dying HTTP/2 connections open few others",
                reason: "libcurl shares a cleartext connection only after its first response.",
                reference: "curl #18177, fixed in 8.16"
            )
        ),
        (
            0..<0x080100,
            KnownIssue(
                "An early response in one packet with its reset is delivered",
                reason: "libcurl drops the data of a stream that is reset in the same read.",
                reference: "curl, lib/http2.c of 7.88: http2_handle_stream_close in cf_h2_recv"
            )
        ),
        (
            0x080E00..<UInt32.max,
            KnownIssue(
                "Half a body, then SETTINGS_ENABLE_PUSH of 5, fails at once",
                reason: "libcurl keeps the connection open until its next use.",
                reference: "curl, lib/multi.c: multi_done closes no multiplexed connection for a transfer that failed"
            )
        ),
        (
            0x080E00..<UInt32.max,
            KnownIssue(
                "Half a body, then a WINDOW_UPDATE of zero, fails at once",
                reason: "libcurl keeps the connection open until its next use.",
                reference: "curl, lib/multi.c: multi_done closes no multiplexed connection for a transfer that failed"
            )
        ),
        (
            0x080E00..<UInt32.max,
            KnownIssue(
                "Before a head, SETTINGS_ENABLE_PUSH of 5 is a protocol error",
                reason: "libcurl keeps the connection open until its next use.",
                reference: "curl, lib/multi.c: multi_done closes no multiplexed connection for a transfer that failed"
            )
        ),
        (
            0x080E00..<UInt32.max,
            KnownIssue(
                "Before a head, a WINDOW_UPDATE of zero is a protocol error",
                reason: "libcurl keeps the connection open until its next use.",
                reference: "curl, lib/multi.c: multi_done closes no multiplexed connection for a transfer that failed"
            )
        ),
        (
            0x080700..<UInt32.max,
            KnownIssue(
                "The error names the code of the GOAWAY that ended it",
                reason: "libcurl reports the code in its verbose text only.",
                reference: "curl, lib/http2.c: goaway_error"
            )
        ),
        (
            0x080700..<UInt32.max,
            KnownIssue(
                "The error names the code of a GOAWAY before the head",
                reason: "libcurl reports the code in its verbose text only.",
                reference: "curl, lib/http2.c: goaway_error"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "The error has the text of the GOAWAY that ended it",
                reason: "libcurl ignores the debug data of a GOAWAY.",
                reference: "curl, lib/http2.c: on_frame_recv"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "A complete response without a length ends its HTTP/2 upload",
                reason: "libcurl reports no end of a successful response before its request is sent.",
                reference: "curl, lib/transfer.c: a transfer is done once neither KEEP_RECV nor KEEP_SEND is set"
            )
        ),
        (
            0..<UInt32.max,
            KnownIssue(
                "A PING is answered while a stream's reader pauses",
                reason: "libcurl does not read a connection if all its streams are paused.",
                reference: "curl, lib/multi.c: KEEP_RECV_PAUSE in multi_getsock and Curl_pollset"
            )
        ),
    ]
}
