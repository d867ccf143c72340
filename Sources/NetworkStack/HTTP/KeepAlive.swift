/// Parses `Keep-Alive` (RFC 2068 section 19.7.1): how long a server keeps an idle connection.
enum KeepAlive {
    /// The number of seconds in `timeout`, or `nil` if there is none. More than a day counts as a day.
    static func timeout(in value: some Sequence<UInt8>) -> Int? {
        var reader = FieldReader(String(decoding: Array(value), as: UTF8.self))
        while !reader.isAtEnd {
            reader.skipBlanks()
            let name = reader.token()
            reader.skipBlanks()
            guard name?.asciiLowercased == "timeout", reader.take(UInt8(ascii: "=")) else {
                _ = reader.text(to: UInt8(ascii: ","))
                _ = reader.take(UInt8(ascii: ","))
                continue
            }
            reader.skipBlanks()
            guard let digits = reader.parameterValue(), digits.utf8.allSatisfy(\.isDigit), !digits.isEmpty else {
                return nil
            }
            return min(Int(digits) ?? .max, 86_400)
        }
        return nil
    }
}
