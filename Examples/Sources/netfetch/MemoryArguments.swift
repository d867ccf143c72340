import ArgumentParser
import Foundation
import NetworkStack

/// What is kept from one fetch to the next, and from one command to the next.
struct MemoryArguments: ParsableArguments {
    @Option(
        name: .both("b", "cookie"),
        help: ArgumentHelp("Send name=value, or keep cookies, beginning with those of a file", valueName: "data|file")
    )
    var cookies: [String] = []

    @Option(
        name: .both("c", "cookie-jar"),
        help: ArgumentHelp(
            "Keep cookies, and write them to a file at the end; - for standard output",
            valueName: "file"
        )
    )
    var jarFile: String?

    @Option(help: ArgumentHelp("Keep HSTS in a file, and use https where it demands that", valueName: "file"))
    var hsts: String?

    /// The cookies to send besides the jar's.
    var ownCookies: String? {
        let pairs = cookies.filter { $0.contains("=") }
        return pairs.isEmpty ? nil : pairs.joined(separator: "; ")
    }

    /// What the files have. One that does not exist is empty.
    func load() throws -> Memory {
        var memory = Memory()
        let files = cookies.filter { !$0.contains("=") }
        if !files.isEmpty || jarFile != nil {
            let jar = HTTP.CookieJar()
            for file in files where FileManager.default.fileExists(atPath: file) {
                do { try jar.load(from: file) } catch { throw LocalFileError("\(error)", code: 26) }
            }
            memory.cookies = jar
        }
        if let hsts {
            let hosts = HTTP.StrictTransportHosts()
            if FileManager.default.fileExists(atPath: hsts) {
                do { try hosts.load(from: hsts) } catch { throw LocalFileError("\(error)", code: 26) }
            }
            memory.strictTransport = hosts
        }
        return memory
    }

    /// Writes what was kept to the files.
    func save(_ memory: Memory) throws {
        do {
            if jarFile == "-" {
                try memory.cookies.map(show)
            } else if let jarFile {
                try memory.cookies?.save(to: jarFile, includingSession: true)
            }
            if let hsts { try memory.strictTransport?.save(to: hsts) }
        } catch {
            throw LocalFileError("\(error)", code: 23)
        }
    }

    /// Writes cookies to standard output, in the form of the file.
    private func show(_ jar: HTTP.CookieJar) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try jar.save(to: file, includingSession: true)
        defer { try? FileManager.default.removeItem(atPath: file) }
        guard LocalFile.write(try LocalFile.read(file), to: STDOUT_FILENO) else {
            throw LocalFileError("standard output", exitCode: 23)
        }
    }
}
