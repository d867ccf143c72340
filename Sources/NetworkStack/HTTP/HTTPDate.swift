internal import FoundationEssentials

/// Reads the dates of HTTP (RFC 9110 section 5.6.7): the one form that is sent today, and the two that may still be met.
enum HTTPDate {
    /// The moment a text names.
    ///
    /// - Parameters:
    ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///   - now: What the century of a year in two digits is guessed by: it lies at most 50 years ahead.
    /// - Returns: The moment, or `nil` if the text is no such date.
    static func parse(_ text: String, now: @autoclosure () -> Date) -> Date? {
        let words = text.split { $0 == " " || $0 == "," }
        switch words.count {
        case 6 where words[5] == "GMT":
            return date(day: words[1], month: words[2], year: words[3], time: words[4], now: now)
        case 4 where words[3] == "GMT":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            return date(day: parts[0], month: parts[1], year: parts[2], time: words[2], now: now)
        case 5: return date(day: words[2], month: words[1], year: words[4], time: words[3], now: now)
        default: return nil
        }
    }

    private static func date(
        day: Substring,
        month: Substring,
        year: Substring,
        time: Substring,
        now: () -> Date
    ) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map(number)
        guard let day = number(day), let month = CalendarDate.months.firstIndex(of: String(month)),
            let written = number(year), clock.count == 3, let hour = clock[0], let minute = clock[1],
            let second = clock[2], year.utf8.count == 4 || year.utf8.count == 2
        else { return nil }
        func moment(_ year: Int) -> Date? { CalendarDate(year, month + 1, day, hour, minute, second)?.moment }
        guard year.utf8.count == 2 else { return moment(written) }
        let ahead = now().addingTimeInterval(50 * 365.25 * 86_400)
        // What is a day of 19xx is one of 20xx, too.
        return moment(2000 + written).flatMap { $0 <= ahead ? $0 : moment(1900 + written) }
    }

    private static func number(_ digits: Substring) -> Int? {
        digits.utf8.allSatisfy(\.isDigit) && digits.utf8.count <= 4 ? Int(digits) : nil
    }
}
