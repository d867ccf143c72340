internal import FoundationEssentials

/// Dates in cookies, read as RFC 6265bis section 5.1.1 has it: in every spelling there is.
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
        guard year >= 1601, hour < 24, minute < 60, second < 60, day >= 1, day <= length(of: month, in: year) else {
            return nil
        }
        let days = self.days(year, month, day)
        return Date(timeIntervalSince1970: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// A number of so many digits at the beginning; what follows is no digit.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix { (0x30...0x39).contains($0) }
        return digits.contains(found.count) ? Int(String(found) ?? "") : nil
    }

    private static func time(_ token: Substring.UTF8View) -> (Int, Int, Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 1...2), parts[0].count <= 2,
            let minute = number(parts[1], digits: 1...2), parts[1].count <= 2,
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        guard token.count >= 3 else { return nil }
        let start = String(decoding: token.prefix(3).map(\.asciiLowercased), as: UTF8.self)
        return months.firstIndex(of: start).map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func length(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01, by the Gregorian calendar.
    static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // A year that begins in March ends with the leap day.
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    /// A moment in seconds since 1970 as `20301231 23:59:59`.
    static func text(of seconds: Int64) -> String {
        let (days, rest) = (Int(seconds) / 86_400, Int(seconds) % 86_400)
        var year = 1970 + days / 366
        while self.days(year + 1, 1, 1) <= days { year += 1 }
        var month = 1
        while month < 12, self.days(year, month + 1, 1) <= days { month += 1 }
        let day = days - self.days(year, month, 1) + 1
        let digits = { (value: Int, count: Int) in String(String(value + 10_000).suffix(count)) }
        return digits(year, 4) + digits(month, 2) + digits(day, 2)
            + " \(digits(rest / 3600, 2)):\(digits(rest / 60 % 60, 2)):\(digits(rest % 60, 2))"
    }
}
