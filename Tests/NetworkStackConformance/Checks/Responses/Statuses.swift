import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Every status has the outcome that the contract lists.
    static let statuses: [ConformanceCheck] =
        plainStatuses + emptyStatuses + interimStatuses + statusLines + challenges

    private static let plainStatuses: [ConformanceCheck] =
        [200, 201, 202, 203, 206, 226, 299].map(succeeds)
        + [300, 304, 305, 306, 399, 400, 401, 403, 404, 407, 408, 410, 418, 421, 429, 451, 499, 500, 501, 503, 599].map(
            fails
        )
        + [
            ConformanceCheck(
                "A status above 599 is a failure with that status",
                needs: [.network, .nonconformingHeads]
            ) {
                subject in
                for code in [600, 999] {
                    let peer = try subject.serve { _ in .status(code, "odd") }
                    let (status, _, _) = try await subject.client().unsuccessful(HTTP.Request(url: peer.url("/")))
                    try expectEqual(status, HTTP.StatusCode(code), "the status")
                }
            },
            ConformanceCheck("The API's error is made of the body and the response") { subject in
                let body = #"{"code":"no-such-thing"}"#
                let peer = try subject.serve {
                    .status(Int($0.path.suffix(3)) ?? 500, body, headers: [("X-Trace", "t1")])
                }
                let decoding = BoundedClient.ErrorDecoding { payload, response in
                    APIError(
                        text: String(decoding: payload ?? Data(), as: UTF8.self),
                        trace: response.headers["X-Trace"]
                    )
                }
                let client = try subject.client()
                for code in [300, 404, 500] {
                    let request = try HTTP.Request(url: peer.url("/\(code)"))
                    let (status, error, response) = try await client.unsuccessful(request, decoding: decoding)
                    try expectEqual(status.rawValue, code, "the status")
                    try expectEqual(error as? APIError, APIError(text: body, trace: "t1"), "the API's error")
                    try expectEqual(response.headers["X-Trace"], "t1", "the response's header")
                }
            },
            ConformanceCheck("Error decoding gets no body when there is none") { subject in
                let peer = try subject.serve { _ in .status(404) }
                let decoding = BoundedClient.ErrorDecoding { payload, _ in
                    APIError(text: "\(payload as Data?)", trace: nil)
                }
                let request = try HTTP.Request(url: peer.url("/"))
                let (_, error, _) = try await subject.client().unsuccessful(request, decoding: decoding)
                try expectEqual(error as? APIError, APIError(text: "nil", trace: nil), "the API's error")
            },
            ConformanceCheck("A success never reaches error decoding") { subject in
                let peer = try subject.serve { _ in .ok("fine") }
                let wasAsked = Lock(false)
                let decoding = BoundedClient.ErrorDecoding { _, _ in
                    wasAsked.withLock { $0 = true }
                    return nil
                }
                _ = try await subject.client().outcome(of: HTTP.Request(url: peer.url("/")), decoding: decoding).get()
                try expect(!wasAsked.withLock { $0 }, "The error decoding was called")
            },
        ]

    private struct APIError: Error, Equatable {
        let text: String
        let trace: String?
    }

    private static func succeeds(_ code: Int) -> ConformanceCheck {
        ConformanceCheck("\(code) with a body is a success") { subject in
            let peer = try subject.serve { _ in .status(code, "content") }
            let fetched = try await subject.client().get(peer.url("/"))
            try expectEqual(fetched.response.status, HTTP.StatusCode(code), "the status")
            try expectBytes(fetched.value, "content".utf8)
        }
    }

    private static func fails(_ code: Int) -> ConformanceCheck {
        ConformanceCheck("\(code) is a failure with that status") { subject in
            // Another check covers the body of a redirect without a Location.
            let peer = try subject.serve { _ in .status(code, (301...308).contains(code) ? "" : "content") }
            let (status, _, response) = try await subject.client().unsuccessful(HTTP.Request(url: peer.url("/")))
            try expectEqual(status, HTTP.StatusCode(code), "the status")
            try expectEqual(response.status, status, "the response's status")
            try expectEqual(peer.requests().count, 1, "requests")
        }
    }

    private static let emptyStatuses: [ConformanceCheck] =
        [200, 201, 299].map { code in
            ConformanceCheck("An empty \(code) is a success without data") { subject in
                let peer = try subject.serve { _ in .status(code) }
                let failure = try await subject.client().failure(HTTP.Request(url: peer.url("/")))
                guard case .noData(HTTP.StatusCode(code), let response) = failure else {
                    throw ConformanceFailure("expected no data, failed with \(failure)")
                }
                try expectEqual(response.status.rawValue, code, "the response's status")
            }
        }
        + [
            empty("204 without a length", 204, ""),
            empty("204 with a length of zero", 204, "Content-Length: 0\r\n"),
            empty("204 with a length and no body", 204, "Content-Length: 12\r\n", needs: [.network]),
            empty("205 with a length of zero", 205, "Content-Length: 0\r\n"),
            ConformanceCheck("An empty success is allowed by options, by status and by method") { subject in
                let peer = try subject.serve { _ in .status(200) }
                let client = try subject.client()
                var byFlag = HTTP.Options()
                byFlag.allowsEmptyBody = true
                var byStatus = HTTP.Options()
                byStatus.emptyResponseCodes = [200]
                var byMethod = HTTP.Options()
                byMethod.emptyRequestMethods = [.GET]
                for options in [byFlag, byStatus, byMethod] {
                    let fetched = try await client.success(HTTP.Request(url: peer.url("/")), options: options)
                    try expectEqual(fetched.value.count, 0, "the body")
                }
            },
            ConformanceCheck("An empty 204 fails if options remove it from the list") { subject in
                let peer = try subject.serve { _ in .status(204) }
                let client = try subject.client { $0.options.emptyResponseCodes = [] }
                guard case .noData(204, _) = try await client.failure(HTTP.Request(url: peer.url("/"))) else {
                    throw ConformanceFailure("expected no data")
                }
            },
            ConformanceCheck("A chunked body that is empty is no data", needs: [.network]) { subject in
                let peer = try subject.serve { _ in .chunked([]) }
                guard case .noData(200, _) = try await subject.client().failure(HTTP.Request(url: peer.url("/"))) else {
                    throw ConformanceFailure("expected no data")
                }
            },
            ConformanceCheck("A 304 has no body, whatever its length", needs: [.network], rests: [.rfc(9110, "15.4.5")])
            { subject in
                let text = "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: \"x\"\r\n\r\n"
                let peer = try subject.serve { _ in .raw(text) }
                let client = try subject.client()
                for _ in 1...2 {
                    let (status, _, response) = try await client.unsuccessful(HTTP.Request(url: peer.url("/")))
                    try expectEqual(status, .notModified, "the status")
                    try expectEqual(response.headers[.eTag], "\"x\"", "ETag")
                }
                try expectEqual(peer.requests().map(\.connectionIndex), [0, 0], "the connections")
            },
        ]

    private static func empty(
        _ what: String,
        _ code: Int,
        _ fields: String,
        needs: Set<HTTP.Capability> = []
    ) -> ConformanceCheck {
        ConformanceCheck("\(what) succeeds and keeps the connection", needs: needs) { subject in
            let peer = try subject.serve { _ in .raw("HTTP/1.1 \(code) Nothing\r\n\(fields)\r\n") }
            let client = try subject.client { $0.options.limits.body = 8 }
            for _ in 1...2 {
                let fetched = try await client.get(peer.url("/"))
                try expectEqual(fetched.response.status.rawValue, code, "the status")
                try expectEqual(fetched.value.count, 0, "the body")
            }
            try expectEqual(peer.requests().map(\.connectionIndex), [0, 0], "the connections")
        }
    }
}
