import Foundation

/// Runs programs.
enum Shell {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    struct Output {
        let status: Int32
        let text: String
        let errorText: String
    }

    /// Runs a program to its end.
    static func run(_ command: [String], in folder: URL? = nil) throws -> Output {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = folder
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        let errorText = ReadAhead(errors.fileHandleForReading)
        try process.run()
        let data = try Interruption.shared.ending(process) {
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return data
        }
        return Output(
            status: process.terminationStatus,
            text: String(decoding: data, as: UTF8.self),
            errorText: String(decoding: errorText.data(), as: UTF8.self)
        )
    }

    /// Runs a program whose failure is one.
    @discardableResult
    static func check(_ command: [String], in folder: URL? = nil) throws -> String {
        let output = try run(command, in: folder)
        guard output.status == 0 else {
            throw Failure(description: "'\(command.joined(separator: " "))' failed: \(output.errorText)\(output.text)")
        }
        return output.text
    }

    /// Whether a program is in the path.
    static func has(_ program: String) -> Bool {
        (try? run(["sh", "-c", "command -v \(program)"]))?.status == 0
    }
}

/// Reads one of two pipes while the other is read, so that neither fills up.
private final class ReadAhead: @unchecked Sendable {
    // Unchecked because `bytes` is written by one thread before the group is left and read by another after it.
    private let group = DispatchGroup()
    private var bytes = Data()

    init(_ handle: FileHandle) {
        DispatchQueue.global().async(group: group) { self.bytes = (try? handle.readToEnd()) ?? Data() }
    }

    func data() -> Data {
        group.wait()
        return bytes
    }
}
