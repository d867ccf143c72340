import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// URLs that name nothing a fetch can reach.
    static let illegalURLs: [ConformanceCheck] =
        [
            ("without a host", "http:///path"), ("without slashes", "http:path"),
            ("with one slash", "https:/host/path"),
            ("of a scheme alone", "http://"), ("without a scheme", "/path"),
            ("of another scheme", "ftp://127.0.0.1/file"),
            ("of a file", "file:///etc/passwd"), ("of data", "data:text/plain,hello"),
            ("with a host of a dot", "http://./"),
            ("with an empty label", "http://a..test/"), ("with port 0", "http://127.0.0.1:0/"),
            ("with port 65536", "http://127.0.0.1:65536/"),
            ("with a port of twenty digits", "http://127.0.0.1:18446744073709551696/"),
            ("with a negative port", "http://127.0.0.1:-80/"), ("with a port of letters", "http://127.0.0.1:http/"),
            ("with a host beyond ASCII", "http://bücher.test/"),
            ("with an escaped slash in its host", "http://127%2F0.0.1/"),
            ("with a label of 64 bytes", "http://\(String(repeating: "a", count: 64)).test/"),
            ("with a host of 300 bytes", "http://\(String(repeating: "abcde.", count: 50))test/"),
            ("with a space in its host", "http://a b.test/"), ("with a quote in its host", "http://a\"b.test/"),
            ("with an unclosed bracket", "http://[::1/"), ("with text after a bracket", "http://[::1]x/"),
            ("with empty brackets", "http://[]/"),
        ].map { what, text in
            ConformanceCheck("A URL \(what) is refused") { subject in
                // The text is refused where a request is made of it or, as a URL made by other means, when it is sent.
                switch Result(catching: { () throws(HTTP.Refusal) in try HTTP.Request(url: text) }) {
                case .success(let request): throw ConformanceFailure("a request was made of it, to \(request.url)")
                case .failure(.invalidRequest(let reason)):
                    try expect(reason.hasSuffix("."), "the reason is no sentence: \(reason)")
                case .failure(let refusal): throw ConformanceFailure("expected an invalid request, saw \(refusal)")
                }
                // Where Foundation is linked its parser turns a host beyond ASCII into the A-label, which is fine.
                guard let url = URL(string: text), !url.absoluteString.contains("//xn--") else { return }
                guard case .invalidRequest = try await subject.client().refusal(HTTP.Request(url: url)) else {
                    throw ConformanceFailure("expected the fetch to be refused as an invalid request")
                }
            }
        }
        + [
            ConformanceCheck("The refusal of a host beyond ASCII asks for its A-label") { subject in
                do throws(HTTP.Refusal) {
                    _ = try HTTP.Request(url: "http://b%C3%BCcher.test/")
                } catch {
                    try expect("\(error)".contains("A-label"), "the reason is: \(error)")
                    return
                }
                throw ConformanceFailure("a request was made of it")
            },
            ConformanceCheck("A relative URL is refused when it is sent") { subject in
                guard let url = URL(string: "path?query") else { throw ConformanceFailure("no URL") }
                guard case .invalidRequest = try await subject.client().refusal(HTTP.Request(url: url)) else {
                    throw ConformanceFailure("expected an invalid request")
                }
            },
            ConformanceCheck("No refusal shows what may be secret in a URL") { subject in
                guard let url = URL(string: "http://user:hunter2@127.0.0.1:99999/?token=hunter2") else {
                    throw ConformanceFailure("no URL")
                }
                let refusal = try await subject.client().refusal(HTTP.Request(url: url))
                try expect(!"\(refusal)".contains("hunter2"), "it shows the secret")
                try expect(
                    !"\(HTTP.Request(url: url))".contains("hunter2"),
                    "the request's description shows the secret"
                )
            },
        ]
}
