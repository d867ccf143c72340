import Foundation
import NetworkStack

extension Outcome {
    /// The line of --summary.
    func summary(url asked: String, digest: String, pins: [String]?) -> JSON {
        func time(_ duration: Duration?) -> JSON { duration.map { .number($0.milliseconds) } ?? .null }
        let line = JSON.members([
            "url": .string(asked),
            "effective_url": .string(url.absoluteString),
            "status": head.map { .integer(Int64($0.status.rawValue)) } ?? .null,
            "http_version": .optional(head?.version.number),
            "headers": head?.headers.json ?? .array([]),
            "body_bytes": .integer(count),
            "body_sha256": .string(digest),
            "hops": .integer(Int64(hops)),
            "reused": metrics.isConnectionReused.map { .bool($0) } ?? .null,
            "timings": .members([
                "queue": time(metrics.queue), "dns": time(metrics.resolved), "connect": time(metrics.connected),
                "tls": time(metrics.secured), "first_byte": time(metrics.firstByte), "total": time(elapsed),
            ]),
            "error": failure.map(\.json) ?? .null,
        ])
        guard let pins, case .object(let members) = line else { return line }
        return .object(members + [.init(name: "pins", value: .array(pins.map { .string($0) }))])
    }

    /// The line of --summary for a fetch that could not begin.
    static func summary(url: String, failure: Failure) -> JSON {
        .members([
            "url": .string(url), "effective_url": .null, "status": .null, "http_version": .null, "headers": .array([]),
            "body_bytes": .integer(0), "body_sha256": .string(SHA256().hexDigest), "hops": .integer(0), "reused": .null,
            "timings": .members([
                "queue": .null, "dns": .null, "connect": .null, "tls": .null, "first_byte": .null, "total": .null,
            ]), "error": failure.json,
        ])
    }
}

extension Failure {
    var json: JSON {
        .members([
            "kind": .string(kind.rawValue), "phase": .optional(phase?.rawValue), "code": .optional(code),
            "message": .string(message),
        ])
    }
}
