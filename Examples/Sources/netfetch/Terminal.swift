import Foundation

/// The terminal that standard error, or standard output, is.
enum Terminal {
    /// How many columns a line has: what `COLUMNS` gives, or the terminal itself; 79 if neither is known.
    static var columns: Int {
        if let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text), columns > 20 {
            return columns
        }
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 79 }
        return Int(size.ws_col)
    }

    static var showsOutput: Bool { isatty(STDOUT_FILENO) == 1 }
    static var showsErrors: Bool { isatty(STDERR_FILENO) == 1 }

    /// Asks for a password and does not show it; without a terminal it is a line of standard input.
    static func password(of user: String, for peer: String) -> String {
        getpass("Enter \(peer) password for user '\(user)':").map { String(cString: $0) } ?? ""
    }
}
