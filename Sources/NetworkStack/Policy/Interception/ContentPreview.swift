internal import FoundationEssentials

/// The beginning of a body, for a log.
struct ContentPreview {
    /// The most bytes to show.
    let limit: Int

    /// The preview of a request's body. Files and streams are not read.
    func lines(of body: HTTP.Body) -> [String] {
        switch body {
        case .none: []
        case .bytes(let data): lines(of: data)
        case .file: ["(body from a file)"]
        case .stream(let stream): ["(streamed body" + (stream.length.map { ", \($0) bytes)" } ?? ")")]
        }
    }

    /// The preview of a body: text up to the limit, or the size of binary data.
    func lines(of data: Data) -> [String] {
        guard !data.isEmpty else { return [] }
        guard limit > 0, let text = Self.text(in: data.prefix(limit), isCut: data.count > limit) else {
            return ["(\(data.count) bytes)"]
        }
        let rest = data.count - text.utf8.count
        return [text] + (rest > 0 ? ["(\(rest) bytes more)"] : [])
    }

    /// The text, up to its last whole character, or `nil` if it is binary.
    private static func text(in data: Data, isCut: Bool) -> String? {
        for dropped in 0...(isCut ? min(3, data.count) : 0) {
            if let text = String(validating: data.dropLast(dropped), as: UTF8.self) {
                return text.isEmpty || text.utf8.contains(0) ? nil : text
            }
        }
        return nil
    }

    /// The text on one line, without characters that control a terminal or a reader of logs.
    static func escaped(_ text: String) -> String {
        let needsNothing = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        if needsNothing { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            // Line and paragraph separators, and marks of writing direction, can hide the text after them.
            case _ where scalar.properties.generalCategory.isInvisible:
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Unicode.GeneralCategory {
    fileprivate var isInvisible: Bool {
        switch self {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}
