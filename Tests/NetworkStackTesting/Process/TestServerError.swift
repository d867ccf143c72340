/// A program that tests need could not be found, run or started. It is never a reason to skip a test.
public enum TestServerError: Error, Sendable, CustomStringConvertible {
    /// The program, or a Python module, is not on this machine; `package` is the Debian package that has it.
    case missing(program: String, package: String)
    /// The server ended or did not listen in time; `log` is the end of what it wrote.
    case failedToStart(server: String, reason: String, log: String)
    /// A command line tool ended with another status than 0 or ran for too long.
    case commandFailed(command: String, status: Int32, output: String)

    /// The missing program and how to install it, or the failure with the program's output.
    public var description: String {
        switch self {
        case .missing(let program, let package):
            "\(program) is needed by the tests and is not installed; on Debian: apt-get install \(package)"
        case .failedToStart(let server, let reason, let log):
            "\(server) did not start: \(reason); the end of its log:\n\(log)"
        case .commandFailed(let command, let status, let output):
            "\(command) ended with status \(status):\n\(output)"
        }
    }
}
