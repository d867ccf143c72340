import Glibc

/// A system call failed, and a test fixture cannot go on.
public struct SystemCallError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, as in the manual page, and its purpose.
    public let call: String
    /// The value of `errno` right after the call.
    public let code: Int32

    /// Makes an error with the calling thread's `errno` by default.
    public init(_ call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// The call, the system's text for the code, and the code.
    public var description: String { "\(call) failed: \(String(cString: strerror(code))) (errno \(code))" }
}
