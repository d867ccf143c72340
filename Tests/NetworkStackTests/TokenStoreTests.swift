import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("Token stores")
struct TokenStoreTests {
    private let token = AccessToken(
        "t0k",
        expirationDate: Date(timeIntervalSince1970: 1_000_000),
        refreshToken: "r3fresh"
    )

    private func permissions(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tokens-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test("A file stores the token for its owner only, whatever the umask")
    func file() throws {
        try withFolder { folder in
            let old = umask(0)
            defer { umask(old) }
            let (path, store) = ("\(folder)/token", FileTokenStore(path: "\(folder)/token"))
            #expect(try store.load() == nil)
            try store.save(token)
            #expect(try permissions(of: path) == 0o600)
            #expect(try store.load() == token)
            try store.save(AccessToken("second"))
            #expect(try store.load() == AccessToken("second"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["token"])
            try store.save(nil)
            try store.save(nil)
            #expect(try store.load() == nil)
        }
    }

    @Test("A file that others can read or write is not trusted", arguments: [0o640, 0o604, 0o620, 0o601])
    func loose(mode: Int) throws {
        try withFolder { folder in
            let path = "\(folder)/token"
            try FileTokenStore(path: path).save(token)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(throws: FileError(path: path, number: EACCES)) { try FileTokenStore(path: path).load() }
            try FileTokenStore(path: path).save(token)
            #expect(try permissions(of: path) == 0o600)
        }
    }

    @Test("A file of another owner is not trusted, even if it is readable", .enabled(if: geteuid() == 0))
    func foreign() throws {
        try withFolder { folder in
            let path = "\(folder)/token"
            try FileTokenStore(path: path).save(token)
            try #require(chown(path, 12_345, 12_345) == 0)
            #expect(throws: FileError(path: path, number: EACCES)) { try FileTokenStore(path: path).load() }
        }
    }

    @Test("A link is not followed, a folder is no file, a missing folder is an error")
    func links() throws {
        try withFolder { folder in
            try FileTokenStore(path: "\(folder)/target").save(token)
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/link",
                withDestinationPath: "\(folder)/target"
            )
            #expect(throws: FileError(path: "\(folder)/link", number: ELOOP)) {
                try FileTokenStore(path: "\(folder)/link").load()
            }
            // Saving replaces the link, not its target.
            try FileTokenStore(path: "\(folder)/link").save(AccessToken("other"))
            #expect(try FileTokenStore(path: "\(folder)/target").load() == token)
            #expect(throws: FileError(path: folder, number: EINVAL)) { try FileTokenStore(path: folder).load() }
            #expect(throws: FileError.self) { try FileTokenStore(path: "\(folder)/no/token").save(token) }
            #expect(throws: (any Error).self) {
                try Data("{".utf8).write(to: URL(fileURLWithPath: "\(folder)/bad"))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/bad")
                _ = try FileTokenStore(path: "\(folder)/bad").load()
            }
        }
    }

    @Test("A path with a NUL is refused, and the file that the system would take for it is kept")
    func cutPaths() throws {
        try withFolder { folder in
            let (path, whole) = ("\(folder)/token\0.json", FileTokenStore(path: "\(folder)/token"))
            try whole.save(token)
            let (cut, error) = (FileTokenStore(path: path), FileError(path: path, number: EINVAL))
            #expect(throws: error) { try cut.load() }
            #expect(throws: error) { try cut.save(nil) }
            #expect(throws: error) { try cut.save(AccessToken("other")) }
            #expect(try whole.load() == token)
        }
    }

    @Test("No description or dump of a token shows it")
    func redacted() {
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] {
            #expect(!text.contains("t0k") && !text.contains("r3fresh"))
        }
    }
}
