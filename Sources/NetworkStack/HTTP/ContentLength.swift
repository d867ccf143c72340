/// Parses `Content-Length` (RFC 9110 section 8.6), strictly, because it decides where a response ends.
package enum ContentLength {
    /// The result of parsing a value.
    package enum Reading: Equatable {
        /// Every member is this number of bytes.
        case length(Int64)
        /// A member is not a plain number, or too large.
        case illegal
        /// Two members differ.
        case conflicting
    }

    /// Parses the value of one line. Every member must be a plain number, and all must be equal (RFC 9112 section 6.3).
    ///
    /// - Parameters:
    ///   - line: The line, with or without its line end.
    ///   - start: Where the value begins in it.
    ///   - earlier: The length of an earlier line, if there was one.
    /// - Returns: The length, or the fault.
    package static func read(_ line: Span<UInt8>, from start: Int = 0, after earlier: Int64? = nil) -> Reading {
        var announced = earlier
        var index = start
        var number: Int64?
        var isOver = false
        while index <= line.count {
            let byte = index < line.count ? line[index] : UInt8(ascii: ",")
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (tens, overflow) = (number ?? 0).multipliedReportingOverflow(by: 10)
                let (sum, overflows) = tens.addingReportingOverflow(Int64(byte - 48))
                if isOver || overflow || overflows { return .illegal }
                number = sum
            case UInt8(ascii: ","):
                guard let number else { return .illegal }
                if let announced, announced != number { return .conflicting }
                announced = number
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): isOver = number != nil
            default: return .illegal
            }
            if byte == UInt8(ascii: ",") { (number, isOver) = (nil, false) }
            index += 1
        }
        return announced.map { .length($0) } ?? .illegal
    }

    /// Parses a value of one line, or of several joined lines.
    ///
    /// - Parameter value: The value.
    /// - Returns: The length, or `nil` if it is invalid.
    package static func length(_ value: String) -> Int64? {
        guard case .length(let length) = read(Array(value.utf8).span) else { return nil }
        return length
    }
}
