import COpenSSL

/// OpenSSL refused a file or a setting of a test server.
public struct TLSSetupError: Error, Sendable, CustomStringConvertible {
    /// The action that failed.
    public let action: String
    /// OpenSSL's reasons, oldest first.
    public let reasons: String

    /// Makes an error with the calling thread's OpenSSL errors.
    init(_ action: String) {
        self.action = action
        reasons = Self.takeReasons()
    }

    /// The action and OpenSSL's reasons.
    public var description: String { "\(action) failed: \(reasons)" }

    /// Takes the calling thread's errors as one text.
    static func takeReasons() -> String {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            var text = [CChar](repeating: 0, count: 256)
            ERR_error_string_n(code, &text, text.count)
            reasons.append(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
        }
        return reasons.isEmpty ? "no reason given" : reasons.joined(separator: "; ")
    }
}
