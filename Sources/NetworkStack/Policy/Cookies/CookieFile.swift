internal import FoundationEssentials

/// The Netscape format of cookie files, which curl, wget and Python read and write: lines of seven fields, separated by tabs.
///
/// It is read as bytes: a cookie must not be able to end a line or a field, and `Character` has more line ends than the format.
enum CookieFile {
    private static let (tab, lineFeed, carriageReturn) = (UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    private static let mark = "#HttpOnly_"

    /// A file's lines.
    ///
    /// - Throws: ``FileError``.
    static func lines(of path: String) throws(FileError) -> [ArraySlice<UInt8>] {
        do { return lines(in: [UInt8](try Data(contentsOf: URL(filePath: path)))) } catch {
            throw FileError(path: path, cause: error)
        }
    }

    /// The parts between line feeds, without a carriage return at their end.
    private static func lines(in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split(separator: lineFeed).map { $0.last == carriageReturn ? $0.dropLast() : $0 }
    }

    /// The file's text. A cookie with a tab is omitted, because the format cannot represent it.
    static func text(_ cookies: [HTTP.Cookie]) -> String {
        var text = "# Netscape HTTP Cookie File\n\n"
        for cookie in cookies {
            let fields = [
                (cookie.isHTTPOnly ? mark : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
                cookie.expires.map(seconds) ?? "0", cookie.name, cookie.value,
            ]
            let isSayable = fields.allSatisfy { field in
                field.utf8.allSatisfy { $0 != tab && $0 != lineFeed && $0 != carriageReturn }
            }
            if isSayable { text += fields.joined(separator: "\t") + "\n" }
        }
        return text
    }

    /// A moment in whole seconds, limited to the largest number.
    private static func seconds(_ moment: Date) -> String {
        String(Int64(exactly: moment.timeIntervalSince1970.rounded(.up)) ?? .max)
    }

    /// Parses what is valid; other lines are skipped, as every reader of the format does.
    static func cookies(in lines: [ArraySlice<UInt8>]) -> [HTTP.Cookie] { lines.compactMap { cookie(in: $0) } }

    private static func cookie(in line: ArraySlice<UInt8>) -> HTTP.Cookie? {
        let isHTTPOnly = line.starts(with: mark.utf8)
        let rest = isHTTPOnly ? line.dropFirst(mark.utf8.count) : line
        let fields = rest.split(separator: tab, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        // A cookie with an empty value may lack its last field.
        guard rest.first != UInt8(ascii: "#"), (6...7).contains(fields.count), let seconds = Int64(fields[4]),
            ["TRUE", "FALSE"].contains(fields[1]), ["TRUE", "FALSE"].contains(fields[3])
        else { return nil }
        let domain = fields[0].utf8.first == UInt8(ascii: ".") ? String(fields[0].utf8.dropFirst()) ?? "" : fields[0]
        let cookie = try? HTTP.Cookie(
            name: fields[5],
            value: fields.count > 6 ? fields[6] : "",
            domain: domain.asciiLowercased,
            isHostOnly: fields[1] == "FALSE",
            path: fields[2],
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds)),
            isSecure: fields[3] == "TRUE",
            isHTTPOnly: isHTTPOnly
        )
        return cookie?.keepsPrefix == true ? cookie : nil
    }
}
