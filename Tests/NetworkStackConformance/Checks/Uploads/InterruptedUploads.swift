import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Responses that arrive before the request's body has been sent.
    static let interruptedBodies: [ConformanceCheck] =
        [
            answersEarly("bytes", needs: [.network]) { .bytes(patternBytes($0)) },
            answersEarly("a stream", needs: [.network, .streamedRequestBody]) { count in
                .stream(.init(length: Int64(count)) { AsyncStream([patternBytes(count)]) })
            },
            ConformanceCheck("A final response instead of 100 Continue is delivered", needs: [.network]) { subject in
                let server = try ScriptedServer { _ in
                    [
                        .receiveHead,
                        .send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
                        .waitForClose,
                    ]
                }
                let request = try HTTP.Request(
                    method: .POST,
                    url: server.url(),
                    headers: [.expect: "100-continue"],
                    body: .bytes(patternBytes(5000))
                )
                let (status, _, response) = try await subject.client().unsuccessful(request)
                try expectEqual(status, 417, "the status")
                try expectEqual(response.headers[.contentLength], "2", "the length")
            },
        ]

    /// The server reads only the head, refuses, and closes: 16 MiB exceed all buffers on the way.
    private static func answersEarly(
        _ what: String,
        needs: Set<HTTP.Capability>,
        body: @escaping @Sendable (Int) -> HTTP.Body
    ) -> ConformanceCheck {
        ConformanceCheck("A 413 during an upload of \(what) is the response", needs: needs) { subject in
            let server = try ScriptedServer { _ in
                [
                    .receiveHead,
                    .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large"),
                    .close,
                ]
            }
            let request = try HTTP.Request(method: .POST, url: server.url(), body: body(16 << 20))
            let seen = Lock<Data?>(nil)
            let decoding = BoundedClient.ErrorDecoding { payload, _ in
                seen.withLock { $0 = payload }
                return nil
            }
            let (status, _, _) = try await subject.client().unsuccessful(request, decoding: decoding)
            try expectEqual(status, .contentTooLarge, "the status")
            try expectBytes(seen.withLock { $0 } ?? Data(), "too large".utf8)
        }
    }
}
