internal import FoundationEssentials

/// Parses dates in cookies, in every spelling that RFC 6265bis section 5.1.1 allows.
enum CookieDate {
    /// The date, or `nil` if the text is none.
    static func date(of text: String) -> Date? {
        var (time, day, month, year): ((Int, Int, Int)?, Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if time == nil, let found = self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let (hour, minute, second) = time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 } else if year < 70 { year += 2000 }
        guard year >= 1601, second < 60 else { return nil }
        return CalendarDate(year, month, day, hour, minute, second)?.moment
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// A number with this many digits at the beginning, not followed by a digit.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix(while: \.isDigit)
        return digits.contains(found.count) ? Int(String(found) ?? "") : nil
    }

    private static func time(_ token: Substring.UTF8View) -> (Int, Int, Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[..<2].allSatisfy({ $0.allSatisfy(\.isDigit) }),
            let hour = number(parts[0], digits: 1...2), let minute = number(parts[1], digits: 1...2),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: Substring.UTF8View) -> Int? { CalendarDate.month(named: token.prefix(3)) }
}
