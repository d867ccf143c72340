internal import FoundationEssentials

/// A second in the Gregorian calendar and UTC.
struct CalendarDate: Equatable {
    let (year, month, day): (Int, Int, Int)
    let (hour, minute, second): (Int, Int, Int)

    /// Checks the parts of a date; `nil` if there is no such second. A leap second counts as the next second.
    init?(_ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), (0..<24).contains(hour), (0..<60).contains(minute),
            (0...60).contains(second), day >= 1, day <= Self.length(of: month, in: year)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// The second of a moment, limited to the range from 1970 to 9999.
    init(_ moment: Date) {
        let seconds = Int(min(max(0, moment.timeIntervalSince1970), 253_402_300_799))
        let days = seconds / 86_400
        var year = 1970 + days / 366
        while Self.days(year + 1, 1, 1) <= days { year += 1 }
        var month = 1
        while month < 12, Self.days(year, month + 1, 1) <= days { month += 1 }
        (self.year, self.month, day) = (year, month, days - Self.days(year, month, 1) + 1)
        (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
    }

    var moment: Date {
        let days = Self.days(year, month, day)
        return Date(timeIntervalSince1970: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    /// The three-letter names of months.
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The month, from 1 to 12, with this name in any case.
    static func month(named name: Substring.UTF8View) -> Int? {
        guard name.count == 3 else { return nil }
        return months.firstIndex { $0.utf8.elementsEqual(name) { $0.asciiLowercased == $1.asciiLowercased } }.map {
            $0 + 1
        }
    }

    /// Days since 1970-01-01.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // A year that begins in March ends with the leap day.
        let shifted = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    }

    private static func length(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
