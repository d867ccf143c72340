import Glibc

/// A system call that failed where a test fixture cannot go on without it.
public struct SystemCallError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, as in the manual page, and what it was for.
    public let call: String
    /// The value of `errno` right after the call.
    public let code: Int32

    /// Names the call `call` and keeps `code`, by default the calling thread's `errno`.
    public init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// The call, the system's text for the code, and the code.
    public var description: String { "\(call) failed: \(String(cString: strerror(code))) (errno \(code))" }
}
