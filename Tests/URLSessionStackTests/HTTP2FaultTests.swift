import CurlStack
import Foundation
import Glibc
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

/// URLSession over HTTP/2. It trusts the system's authorities alone, so the test runs in a process in whose file system a
/// test's authority replaces them, if the machine permits that.
@Suite("URLSession over HTTP/2", .timeLimit(.minutes(1)))
struct HTTP2FaultTests {
    private static let mark = "NETWORK_STACK_TEST_AUTHORITY"
    private static let isInside = getenv(mark) != nil
    private static let mayMount =
        (try? Program("unshare", package: "util-linux").run(["--mount", "mount", "--bind", "/tmp", "/mnt"])) != nil
    /// The libcurl of this process treats a stream as ended if it closed its connection (fixed in 8.2).
    private static let isFixed = CurlLibrary.shared.versionNumber >= 0x080200

    @Test("runs in a separate process", .enabled(if: !isInside && mayMount))
    func outside() throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let output = try Program("unshare", package: "util-linux").run(
            [
                "--mount", "env", "\(Self.mark)=1", program, "--testing-library", "swift-testing", "--filter",
                "HTTP2FaultTests/inside",
            ],
            limit: .seconds(50)
        )
        #expect(output.contains("Test run with 1 test") && output.contains("passed"))
    }

    @Test("treats a body without a length as complete after a connection error", .enabled(if: isInside))
    func inside() async throws {
        let certificates = try TestCertificates.shared()
        try Program("mount", package: "mount").run([
            "--bind", certificates.caFile, "/etc/ssl/certs/ca-certificates.crt",
        ])
        let network = try Stack(configuration: .init())
        let whole = [HTTP2Frame.data("", on: 1, endsStream: true)]
        #expect(try await Self.fetch(whole, certificates, network) == "success half")
        #expect(try await Self.fetch([], certificates, network).hasPrefix("transport"))
        for (name, fault) in Self.faults {
            let outcome = try await Self.fetch([fault], certificates, network)
            // URLSession reports the same as for a complete response.
            #expect(Self.isFixed ? outcome.hasPrefix("transport") : outcome == "success half", "\(name): \(outcome)")
            let known = try await Self.fetch([fault], with: [("content-length", "9")], certificates, network)
            #expect(known.hasPrefix("transport"), "\(name), of known length: \(known)")
        }
        for (name, frame) in Self.alternativeServices {
            let outcome = try await Self.fetch(after: frame, certificates, network)
            #expect(outcome == "success whole", "ALTSVC \(name): \(outcome)")
        }
    }

    /// ALTSVC frames (RFC 7838 section 4), which announce another server.
    private static let alternativeServices: [(String, [UInt8])] = {
        let value = Array("h2=\":443\"".utf8)
        let origin = Array("https://localhost".utf8)
        return [
            (
                "for an origin",
                [0, 0, UInt8(2 + origin.count + value.count), 0x0A, 0, 0, 0, 0, 0, 0, UInt8(origin.count)] + origin
                    + value
            ),
            ("of its stream", [0, 0, UInt8(2 + value.count), 0x0A, 0, 0, 0, 0, 1, 0, 0] + value),
        ]
    }()

    private static let faults: [(String, HTTP2Frame)] = [
        ("a PING of 7 bytes", HTTP2Frame(.ping, [UInt8](repeating: 1, count: 7))),
        ("DATA on stream 0", .data("stray", on: 0)),
        ("SETTINGS_ENABLE_PUSH of 5", HTTP2Frame(.settings, [0, 2, 0, 0, 0, 5])),
        ("fields that do not decode", HTTP2Frame(.headers, flags: 5, stream: 1, [UInt8](repeating: 0xFF, count: 5))),
        ("CONTINUATION out of place", HTTP2Frame(.continuation, flags: 4, stream: 1, [0x88])),
        ("padding longer than its frame", HTTP2Frame(.data, flags: 8, stream: 1, [200, 1, 2])),
        ("a frame over the maximal size", HTTP2Frame(.data, stream: 1, [UInt8](repeating: 1, count: 20_000))),
    ]

    /// Fetches a correct response, before which these bytes arrive.
    private static func fetch(
        after bytes: [UInt8],
        _ certificates: TestCertificates,
        _ network: Stack
    ) async throws -> String {
        let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2"])
        let server = try ScriptedServer(options) { _ in
            [
                .beginHTTP2, .receiveStream, .send(bytes), .pause(.milliseconds(50)),
                .send([.head(200, on: 1), .data("whole", on: 1, endsStream: true)]), .waitForClose,
            ]
        }
        return await network.outcome(of: try .url(server.url("/", host: "localhost"))).summary
    }

    /// Fetches a response that begins correctly, continues with these frames and ends with its connection.
    private static func fetch(
        _ frames: [HTTP2Frame],
        with fields: [(name: String, value: String)] = [],
        _ certificates: TestCertificates,
        _ network: Stack
    ) async throws -> String {
        let options = ScriptedServer.Options(tls: certificates.server, applicationProtocols: ["h2"])
        let server = try ScriptedServer(options) { _ in
            [
                .beginHTTP2, .receiveStream, .send([.head(200, fields, on: 1), .data("half", on: 1)]),
                .pause(.milliseconds(50)), .send(frames), .close,
            ]
        }
        return await network.outcome(of: try .url(server.url("/", host: "localhost"))).summary
    }
}
