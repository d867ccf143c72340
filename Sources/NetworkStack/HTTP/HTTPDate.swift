internal import FoundationEssentials

/// Parses the three forms of dates in HTTP (RFC 9110 section 5.6.7).
///
/// The day's name and case are ignored. Every date is in UTC; a date with another zone is rejected.
enum HTTPDate {
    /// Parses a date.
    ///
    /// - Parameters:
    ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///   - now: The current time, which decides the century of a two-digit year: it is at most 50 years ahead.
    /// - Returns: The moment, or `nil` if the text is no such date.
    static func parse(_ text: String, now: @autoclosure () -> Date) -> Date? {
        // A date has at most six words.
        var words = text.split(maxSplits: 6) { $0 == " " || $0 == "," || $0 == "\t" }[...]
        if let last = words.last, zones.contains(String(last).asciiLowercased) { words.removeLast() }
        if let first = words.first, first.utf8.allSatisfy({ $0.isAlphanumeric && !$0.isDigit }) { words.removeFirst() }
        let parts = Array(words)
        switch parts.count {
        case 4 where parts[0].utf8.first?.isDigit == true:
            return date(day: parts[0], month: parts[1], year: parts[2], time: parts[3], now: now)
        case 4: return date(day: parts[1], month: parts[0], year: parts[3], time: parts[2], now: now)
        case 2:
            let date = parts[0].split(separator: "-", maxSplits: 3, omittingEmptySubsequences: false)
            guard date.count == 3 else { return nil }
            return self.date(day: date[0], month: date[1], year: date[2], time: parts[1], now: now)
        default: return nil
        }
    }

    /// Names of UTC.
    private static let zones: Set<String> = ["gmt", "utc", "ut", "z", "+0000", "-0000"]

    private static func date(
        day: Substring,
        month: Substring,
        year: Substring,
        time: Substring,
        now: () -> Date
    ) -> Date? {
        let clock = time.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false).map(number)
        guard let day = number(day), let month = CalendarDate.month(named: month.utf8),
            let written = number(year), clock.count == 3, let hour = clock[0], let minute = clock[1],
            let second = clock[2], year.utf8.count == 4 || year.utf8.count == 2
        else { return nil }
        func moment(_ year: Int) -> Date? { CalendarDate(year, month, day, hour, minute, second)?.moment }
        guard year.utf8.count == 2 else { return moment(written) }
        let ahead = now().addingTimeInterval(50 * 365.25 * 86_400)
        // Every day of 19xx exists in 20xx, too, so there is no such day if this is `nil`.
        return moment(2000 + written).flatMap { $0 <= ahead ? $0 : moment(1900 + written) }
    }

    private static func number(_ digits: Substring) -> Int? {
        digits.utf8.allSatisfy(\.isDigit) && digits.utf8.count <= 4 ? Int(digits) : nil
    }
}
