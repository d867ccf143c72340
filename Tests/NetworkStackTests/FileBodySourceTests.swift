import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

private struct Broken: Error {}

@Suite("A body from a file")
struct FileBodySourceTests {
    /// Runs a closure with the path of a file that is removed afterwards.
    private func withFile(_ content: Data, _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "/body-\(UUID().uuidString)"
        try content.write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func read(_ source: FileBodySource, upTo count: Int = 1000, again: Bool = false) throws -> Data {
        if again { _ = source.rewind() }
        var content = Data()
        while true {
            switch source.next(upTo: count) {
            case .bytes(let bytes):
                #expect(!bytes.isEmpty && bytes.count <= count)
                content += bytes
            case .end: return content
            case .failed(let error): throw error
            case .pending: throw Broken()
            }
        }
    }

    @Test("is read whole, again after a rewind, and not after a close")
    func reading() throws {
        let content = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        try withFile(content) { path in
            let source = try FileBodySource(path: path)
            #expect(source.length == 10_000)
            #expect(try read(source) == content)
            #expect(source.rewind())
            #expect(try read(source, upTo: 1 << 20) == content)
            #expect(source.rewind())
            source.close()
            source.close()
            #expect(throws: FileError.self) { try read(source) }
        }
    }

    @Test("may be empty")
    func empty() throws {
        try withFile(Data()) { path in
            let source = try FileBodySource(path: path)
            #expect(source.length == 0)
            #expect(try read(source).isEmpty)
        }
    }

    @Test("that shrinks during sending fails, and one that grows is sent as it was")
    func changing() throws {
        try withFile(Data(count: 5000)) { path in
            let source = try FileBodySource(path: path)
            guard case .bytes = source.next(upTo: 1000) else { throw Broken() }
            #expect(truncate(path, 2000) == 0)
            #expect { try read(source) } throws: {
                ($0 as? BodyLengthError) == BodyLengthError(declared: 5000, actual: 2000)
            }
            source.close()
        }
        try withFile(Data(count: 5000)) { path in
            let source = try FileBodySource(path: path)
            #expect(truncate(path, 9000) == 0)
            #expect(try read(source).count == 5000)
            source.close()
        }
    }

    @Test("that is missing, a directory, a pipe or a device is refused when opened")
    func refusals() throws {
        let pipe = NSTemporaryDirectory() + "/pipe-\(UUID().uuidString)"
        #expect(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        let paths: [(String, Int32?)] = [
            ("/does/not/exist", ENOENT), (NSTemporaryDirectory(), EISDIR), (pipe, EINVAL), ("/dev/null", EINVAL),
            ("", ENOENT), ("/etc/hostname\0.txt", EINVAL),
        ]
        for (path, number) in paths {
            #expect {
                try FileBodySource(path: path)
            } throws: { error in
                guard let reason = error as? FileError else { return false }
                return reason.path == path && reason.number == number
            }
        }
    }

    @Test("is not created in an impossible place")
    func places() throws {
        let folder = NSTemporaryDirectory() + "/folder-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data().write(to: URL(filePath: folder + "/file"))
        let places: [(String, Int32)] = [
            (folder + "/" + String(repeating: "n", count: 256), ENAMETOOLONG), (folder + "/file/file", ENOTDIR),
            (folder + "/none/file", ENOENT), (folder, EISDIR), ("/dev/null", EINVAL), ("", ENOENT),
        ]
        for (path, number) in places {
            #expect(throws: FileError(path: path, number: number)) { try FileWriter(path: path) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
    }

    @Test(
        "has the mode of the file it replaces, and no wider mode before",
        arguments: [0o600, 0o640, 0o644, 0o666, 0o755]
    )
    func modes(_ mode: Int) throws {
        func modeOfFile(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        try withFile(Data("before".utf8)) { path in
            #expect(chmod(path, mode_t(mode)) == 0)
            let writer = try FileWriter(path: path)
            let (folder, name) = (NSTemporaryDirectory(), URL(filePath: path).lastPathComponent)
            let partial = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
                $0.hasPrefix(name) && $0.hasSuffix(".partial")
            }
            #expect(try partial.map { try modeOfFile(folder + "/" + $0) } == [mode])
            _ = try writer.commit()
            #expect(try modeOfFile(path) == mode)
        }
    }

    @Test("is private on request, whatever it replaces", arguments: [nil, 0o600, 0o644])
    func privacy(_ mode: Int?) throws {
        try withFile(Data()) { path in
            if let mode { #expect(chmod(path, mode_t(mode)) == 0) } else { unlink(path) }
            _ = try FileWriter(path: path, isPrivate: true).commit()
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("is written to no path that the system would change")
    func namesakes() throws {
        let path = NSTemporaryDirectory() + "/file-\(UUID().uuidString)"
        #expect(throws: FileError(path: path + "\0.pdf", number: EINVAL)) { try FileWriter(path: path + "\0.pdf") }
        #expect(throws: FileError(path: path + "\0", number: EINVAL)) {
            try FileTokenStore(path: path + "\0").save(.init("t"))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("is open until it is closed or released")
    func closing() throws {
        try withFile(Data("content".utf8)) { path in
            func isOpen() -> Bool { ProcessProbe.descriptors().values.contains(path.replacing("//", with: "/")) }
            let source = try FileBodySource(path: path)
            #expect(isOpen())
            source.close()
            #expect(!isOpen())
            do {
                let dropped = try FileBodySource(path: path)
                withExtendedLifetime(dropped) { #expect(isOpen()) }
            }
            #expect(!isOpen())
        }
    }

    @Test("is opened again for reading if many wait, and never replaced by another")
    func waiting() throws {
        try withFile(Data("content".utf8)) { path in
            func openCount() -> Int {
                ProcessProbe.descriptors().values.count { $0 == path.replacing("//", with: "/") }
            }
            let sources = try (0..<400).map { _ in try FileBodySource(path: path) }
            #expect((1...128).contains(openCount()))
            for source in sources {
                #expect(try read(source) == Data("content".utf8))
                source.close()
                #expect(throws: FileError.self) { try read(source, again: true) }
            }
            #expect(openCount() == 0)
            let others = try (0..<400).map { _ in try FileBodySource(path: path) }
            let before = path + "-before"
            #expect(rename(path, before) == 0)
            defer { unlink(before) }
            try Data("another".utf8).write(to: URL(filePath: path))
            // The open sources refer to the original file.
            #expect(try read(try #require(others.first)) == Data("content".utf8))
            let last = try #require(others.last)
            #expect(throws: FileError(path: path, number: ESTALE)) { try read(last) }
        }
    }

    @Test("that cannot replace a file leaves nothing behind, and reports it")
    func takenPlace() throws {
        let folder = NSTemporaryDirectory() + "/folder-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/place"
        let file = try FileWriter(path: path)
        try file.write(Data("content".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(throws: FileError(path: path, number: EISDIR)) { try file.commit() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["place"])
        #expect(throws: FileError(path: path, number: EBADF)) { try file.commit() }
    }
}
