import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Downloads and uploads in one call.
    static let fileCalls: [ConformanceCheck] = [
        ConformanceCheck("A download call writes the body and reports its progress") { subject in
            let content = patternBytes(2 << 20)
            let peer = try subject.serve { _ in .ok(bytes: Array(content)) }
            let stack = try subject.stack()
            try await inCallFolder { folder in
                let steps = Lock<[Int64]>([])
                let response = try await bounded {
                    try await stack.download(from: peer.url("/"), to: folder + "/file") { count, total in
                        steps.withLock { $0 += [count] }
                        if total != 2 << 20 { steps.withLock { $0 += [-1] } }
                    }
                }
                try expectEqual(response.status, .ok, "the status")
                try expectBytes(try Data(contentsOf: URL(filePath: folder + "/file")), content)
                let seen = steps.withLock { $0 }
                try expectEqual(seen.last, Int64(content.count), "the last progress")
                try expectEqual(seen, seen.sorted(), "the progress")
                try expect(!seen.contains(-1), "The total was not known")
            }
        },
        ConformanceCheck("A download call that fails leaves no file behind") { subject in
            let peer = try subject.serve { _ in .status(404, "gone") }
            let stack = try subject.stack()
            try await inCallFolder { folder in
                let error = try await callFailure {
                    try await stack.download(from: peer.url("/"), to: folder + "/file")
                }
                guard case .http(.notFound, _, _) = error else {
                    throw ConformanceFailure("The call failed with \(error)")
                }
                try expectEqual(error.body, Data("gone".utf8), "the body of the failure")
                try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder), [], "the files")
            }
        },
        ConformanceCheck("A download call names a file that cannot be written") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let stack = try subject.stack()
            let error = try await callFailure { try await stack.download(from: peer.url("/"), to: "/nowhere/file") }
            guard case .localFile(let cause, _) = error else {
                throw ConformanceFailure("The call failed with \(error)")
            }
            try expect("\(cause)".contains("/nowhere/file"), "\(cause) does not name the file")
        },
        ConformanceCheck("Cancelling a download call closes its connection", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .waitForClose]
            }
            let stack = try subject.stack()
            try await inCallFolder { folder in
                let hasBegun = Gate()
                let loading = Task {
                    try await stack.download(from: server.url(), to: folder + "/file") { _, _ in hasBegun.open() }
                }
                try await hasBegun.opened(within: .seconds(20))
                loading.cancel()
                let error = try await callFailure { _ = try await loading.value }
                guard case .cancelled = error else { throw ConformanceFailure("The call failed with \(error)") }
                try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
                try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder), [], "the files")
            }
        },
        ConformanceCheck("An upload call puts a file and returns every status") { subject in
            let content = patternBytes(1 << 20)
            let peer = try subject.serve { request in request.path == "/full" ? .status(507, "full") : .ok("thanks") }
            let stack = try subject.stack()
            try await inCallFolder { folder in
                try content.write(to: URL(filePath: folder + "/file"))
                let last = Lock<Int64>(0)
                let (body, response) = try await bounded {
                    try await stack.upload(.file(path: folder + "/file"), to: peer.url("/")) { sent, _ in
                        last.withLock { $0 = sent }
                    }
                }
                try expectEqual(response.status, .ok, "the status")
                try expectBytes(body, "thanks".utf8)
                let received = try require(peer.requests().first, "no request arrived")
                try expectEqual(received.method, "PUT", "the method")
                try expectBytes(received.body, content)
                if subject.capabilities.supports(.network) {
                    try expectEqual(last.withLock { $0 }, Int64(content.count), "the last progress")
                }
                let full = try await bounded { try await stack.upload(.bytes(Data()), to: peer.url("/full")) }
                try expectEqual(full.1.status, 507, "the status")
            }
        },
    ]

    private static func inCallFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/call-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }
}
