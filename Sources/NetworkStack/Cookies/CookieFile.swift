internal import FoundationEssentials

/// Cookies in the file format that Netscape began and curl, wget and Python read and write: seven fields a line, between
/// tabs.
enum CookieFile {
    /// A file's text, whoever may read it.
    ///
    /// - Throws: ``FileError``.
    static func content(of path: String) throws(FileError) -> String {
        do { return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self) } catch {
            throw FileError(path: path, number: (error as? CocoaError)?.code == .fileReadNoSuchFile ? 2 : 5)
        }
    }

    static func text(_ cookies: [HTTP.Cookie]) -> String {
        var text = "# Netscape HTTP Cookie File\n\n"
        for cookie in cookies {
            let fields = [
                (cookie.isHTTPOnly ? "#HttpOnly_" : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
                String(cookie.expires.map { Int64($0.timeIntervalSince1970.rounded(.up)) } ?? 0), cookie.name,
                cookie.value,
            ]
            text += fields.joined(separator: "\t") + "\n"
        }
        return text
    }

    /// Reads what can be read; a line that is no cookie is passed over, as every reader of the format does.
    static func cookies(in text: String) -> [HTTP.Cookie] {
        text.split(whereSeparator: \.isNewline).compactMap { cookie(in: $0) }
    }

    private static func cookie(in line: Substring) -> HTTP.Cookie? {
        let mark = "#HttpOnly_"
        let isHTTPOnly = line.hasPrefix(mark)
        let rest = isHTTPOnly ? line.dropFirst(mark.count) : line
        let fields = rest.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false).map(String.init)
        // A cookie with an empty value may have lost its last field.
        guard !rest.hasPrefix("#"), fields.count >= 6, let seconds = Int64(fields[4]), fields[2].hasPrefix("/"),
            ["TRUE", "FALSE"].contains(fields[1]), ["TRUE", "FALSE"].contains(fields[3])
        else { return nil }
        let domain = (fields[0].hasPrefix(".") ? String(fields[0].dropFirst()) : fields[0]).lowercased()
        let cookie = try? HTTP.Cookie(
            name: fields[5],
            value: fields.count > 6 ? fields[6] : "",
            domain: domain,
            isHostOnly: fields[1] == "FALSE",
            path: fields[2],
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds)),
            isSecure: fields[3] == "TRUE",
            isHTTPOnly: isHTTPOnly
        )
        return cookie?.keepsPrefix == true ? cookie : nil
    }
}
