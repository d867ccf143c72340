import Foundation
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Bodies that are written to a file.
    static let downloads: [ConformanceCheck] = [
        ConformanceCheck("A complete download replaces the file at its path") { subject in
            let content = patternBytes(3 << 20)
            let peer = try subject.serve { _ in .ok(bytes: Array(content)) }
            try await inFolder { folder in
                let path = folder + "/file"
                try Data("old".utf8).write(to: URL(filePath: path))
                let stack = try subject.makeDownloading(.init()) { _ in path }
                let request = try HTTP.Request(url: peer.url("/"))
                let length = try await bounded(.seconds(30)) {
                    try await stack.fetch(resource: .init(baseRequestMaking: .request(request))).value.whole()
                }
                try expectEqual(length, Int64(content.count), "the file's length")
                try expectBytes(try Data(contentsOf: URL(filePath: path)), content)
                try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["file"], "the files")
            }
        },
        ConformanceCheck("The closure for a download's path may block on another fetch") { subject in
            let peer = try subject.serve { .ok($0.path) }
            try await inFolder { folder in
                let (stack, wasServed) = (Lock<AnyHTTPNetworkStack<ErasedDownload>?>(nil), Lock(false))
                let second = try HTTP.Request(url: peer.url("/second"))
                let downloading = try subject.makeDownloading(.init()) { response in
                    guard response.url.path == "/first" else { return folder + "/second" }
                    let done = Latch()
                    stack.withLock { $0 }?.fetch(resource: .init(baseRequestMaking: .request(second))) { _ in
                        done.open()
                    }
                    if done.wait(seconds: 10) { wasServed.withLock { $0 = true } }
                    return folder + "/first"
                }
                stack.withLock { $0 = downloading }
                defer { stack.withLock { $0 = nil } }
                let first = try HTTP.Request(url: peer.url("/first"))
                let length = try await bounded(.seconds(30)) {
                    try await downloading.fetch(resource: .init(baseRequestMaking: .request(first))).value.whole()
                }
                try expectEqual(length, 6, "the file's length")
                try expect(wasServed.withLock { $0 }, "The other fetch did not end while the closure blocked")
            }
        },
        ConformanceCheck(
            "A download reports the announced length unless the bytes written differ",
            needs: [.network]
        ) { subject in
            let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            let overridden = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n"
            var replies: [(Reply, expected: Int64?, written: Int)] = [
                (.ok("whole"), 5, 5),
                (.ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")]), nil, Compressed.text.count),
                (Reply(head: Array(chunked.utf8), body: Array("2\r\nok\r\n0\r\n\r\n".utf8)), nil, 2),
            ]
            if subject.capabilities.supports(.nonconformingHeads) {
                replies.append((Reply(head: Array(overridden.utf8), body: Array("2\r\nok\r\n0\r\n\r\n".utf8)), nil, 2))
            }
            for (reply, expected, written) in replies {
                let server = try ScriptedServer.responding { _ in reply }
                try await inFolder { folder in
                    let stack = try subject.makeDownloading(.init()) { _ in folder + "/file" }
                    let request = try HTTP.Request(url: server.url())
                    let download = try await bounded(.seconds(30)) {
                        let download = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
                            .value
                        _ = try await download.whole()
                        return download
                    }
                    try expectEqual(download.expectedLength, expected, "the announced length")
                    try expectEqual(download.writtenLength, Int64(written), "the written length")
                    try expectEqual(download.path, folder + "/file", "the path")
                }
            }
        },
        ConformanceCheck("A truncated download leaves nothing behind", needs: [.network]) { subject in
            let server = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]
            }
            try await inFolder { folder in
                let stack = try subject.makeDownloading(.init()) { _ in folder + "/file" }
                let request = try HTTP.Request(url: server.url())
                _ = try await streamFailure {
                    _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request))).value.whole()
                }
                try await eventually("the partial file is gone") {
                    try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
                }
            }
        },
        ConformanceCheck(
            "A cancelled download leaves nothing behind and closes its connection",
            needs: [.network]
        ) { try await expectNothingLeft(of: $0) { $0.cancel() } },
        ConformanceCheck(
            "Cancelling the task that awaits a download ends both",
            needs: [.network]
        ) { subject in
            try await expectNothingLeft(of: subject) { download in
                let waiting = Task { try await download.whole() }
                waiting.cancel()
                _ = try await streamFailure { _ = try await waiting.value }
            }
        },
        ConformanceCheck("A download to an impossible path fails with a reason") { subject in
            let peer = try subject.serve { _ in .ok("content") }
            let stack = try subject.makeDownloading(.init()) { _ in "/there/is/no/such/folder/file" }
            let request = try HTTP.Request(url: peer.url("/"))
            let error = try await streamFailure {
                _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request))).value.whole()
            }
            guard case .localFile? = error as? BoundedClient.FetchError else {
                throw ConformanceFailure("Expected localFile, saw \(error)")
            }
        },
        ConformanceCheck("A download replaces no pipe and no device") { subject in
            let peer = try subject.serve { _ in .ok("content") }
            try await inFolder { folder in
                let path = folder + "/pipe"
                try expectEqual(mkfifo(path, 0o600), 0, "making a pipe")
                let stack = try subject.makeDownloading(.init()) { _ in path }
                let request = try HTTP.Request(url: peer.url("/"))
                _ = try? await stack.fetch(resource: .init(baseRequestMaking: .request(request))).value.whole()
                var status = stat()
                lstat(path, &status)
                try expect(status.st_mode & S_IFMT == S_IFIFO, "The pipe was replaced")
                try expectEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["pipe"], "the files")
            }
        },
        ConformanceCheck("A download's file may have the longest possible name") { subject in
            let peer = try subject.serve { _ in .ok("content") }
            try await inFolder { folder in
                let path = folder + "/" + String(repeating: "n", count: 255)
                let stack = try subject.makeDownloading(.init()) { _ in path }
                let request = try HTTP.Request(url: peer.url("/"))
                let length = try await stack.fetch(resource: .init(baseRequestMaking: .request(request))).value.whole()
                try expectEqual(length, 7, "the length")
            }
        },
        ConformanceCheck("A download continues without references to it or its stack", needs: [.network]) { subject in
            let goOn = Gate()
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"), .wait(for: goOn),
                    .send("half"),
                ]
            }
            try await inFolder { folder in
                let path = folder + "/file"
                try await {
                    let stack = try subject.makeDownloading(.init()) { _ in path }
                    let request = try HTTP.Request(url: server.url())
                    _ = try await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
                }()
                try await Task.sleep(for: .milliseconds(200))
                goOn.open()
                try await eventually("the file is there") {
                    (try? Data(contentsOf: URL(filePath: path))) == Data("halfhalf".utf8)
                }
            }
        },
    ]

    /// A download that stalls after half of its body.
    private static func expectNothingLeft(
        of subject: ConformanceSubject,
        after cancel: (ErasedDownload) async throws -> Void
    ) async throws {
        let server = try ScriptedServer { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .waitForClose]
        }
        try await inFolder { folder in
            let stack = try subject.makeDownloading(.init()) { _ in folder + "/file" }
            let request = try HTTP.Request(url: server.url())
            let download = try await bounded(.seconds(20)) {
                try await stack.fetch(resource: .init(baseRequestMaking: .request(request))).value
            }
            try await eventually("something is written") { download.writtenLength == 4 }
            try await cancel(download)
            try await server.sees("the close") { $0.connections.first?.isEndedByPeer == true }
            try await eventually("the partial file is gone") {
                try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
            }
        }
    }

    private static func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/download-\(UInt64.random(in: .min ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        do { try await body(folder) } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
        try FileManager.default.removeItem(atPath: folder)
    }
}
