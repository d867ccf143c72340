internal import FoundationEssentials

/// The beginning of some content, fit for a log.
struct ContentPreview {
    /// How many bytes are shown at most.
    let limit: Int

    /// What a request's content shows; files and streams are not read for it.
    func lines(of body: HTTP.Body) -> [String] {
        switch body {
        case .none: []
        case .bytes(let data): lines(of: data)
        case .file: ["(content from a file)"]
        case .stream(let stream): ["(streamed content" + (stream.length.map { ", \($0) bytes)" } ?? ")")]
        }
    }

    /// What content shows: text up to the limit, or how much there is of what is no text.
    func lines(of data: Data) -> [String] {
        guard !data.isEmpty else { return [] }
        guard limit > 0, let text = Self.text(in: data.prefix(limit), isCut: data.count > limit) else {
            return ["(\(data.count) bytes)"]
        }
        let rest = data.count - text.utf8.count
        return [text] + (rest > 0 ? ["(\(rest) bytes more)"] : [])
    }

    /// The text, up to its last whole character, or `nil` if it is none.
    private static func text(in data: Data, isCut: Bool) -> String? {
        for dropped in 0...(isCut ? min(3, data.count) : 0) {
            if let text = String(validating: data.dropLast(dropped), as: UTF8.self) {
                return text.isEmpty || text.utf8.contains(0) ? nil : text
            }
        }
        return nil
    }

    /// The text on one line, without a character that a terminal or a log's reader would take for a command.
    static func escaped(_ text: String) -> String {
        let needsNothing = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        if needsNothing { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            // Line and paragraph separators, and marks that turn the direction of writing, hide what follows them.
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
