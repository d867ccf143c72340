import Foundation
import Glibc

/// A program on this machine.
package struct Program: Sendable {
    let path: String

    /// Searches for `name` in PATH and in Debian's folders for servers; throws `TestServerError.missing`.
    package init(_ name: String, package: String) throws {
        guard let path = Self.candidates(name).first else {
            throw TestServerError.missing(program: name, package: package)
        }
        self.path = path
    }

    package init(path: String) { self.path = path }

    /// All executables of that name, in the order of PATH, with /usr/sbin, which is not in every user's PATH.
    static func candidates(_ name: String) -> [String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders =
            path.split(separator: ":").map(String.init) + [
                "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin",
            ]
        var seen: Set<String> = []
        return folders.map { "\($0)/\(name)" }.filter { seen.insert($0).inserted && access($0, X_OK) == 0 }
    }

    /// Runs the program to its end and returns what it wrote to both outputs.
    ///
    /// Throws `TestServerError.commandFailed` on a status other than 0, or when it is still running after `limit`.
    @discardableResult
    package func run(_ arguments: [String], in directory: String = "/", limit: Duration = .seconds(30)) throws -> String
    {
        let command = "\(path) \(arguments.joined(separator: " "))"
        let output = try TemporaryDirectory("command")
        let log = output.file("output")
        let process = try ChildProcess(path, arguments, in: directory, output: log)
        let status = try process.waitForEnd(within: limit)
        let text = WrittenFile(path: log).text
        guard status == 0 else {
            throw TestServerError.commandFailed(
                command: command,
                status: status ?? -1,
                output: status == nil ? "still running after \(limit)\n\(text)" : text
            )
        }
        return text
    }
}
