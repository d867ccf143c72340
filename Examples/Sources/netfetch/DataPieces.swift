import Foundation
import NetworkStack

/// The body that -d, --json and their like make, piece by piece in the order of the command line.
struct DataPieces {
    private static let names: Set<String> = ["data", "data-raw", "data-binary", "data-urlencode", "json"]

    private let pieces: [(name: String, value: String)]

    init(_ line: CommandLineReader) {
        pieces = line.occurrences.compactMap { option in
            option.value.flatMap { Self.names.contains(option.name) ? (option.name, $0) : nil }
        }
    }

    /// Whether there are any.
    var isEmpty: Bool { pieces.isEmpty }

    /// Whether any is JSON.
    var isJSON: Bool { pieces.contains { $0.name == "json" } }

    /// The body, or `nil` without pieces.
    ///
    /// - Throws: A ``LocalFileError``.
    func joined() throws(LocalFileError) -> Data? {
        guard !isEmpty else { return nil }
        var body = Data()
        for (index, piece) in pieces.enumerated() {
            // Pieces of JSON follow each other; the others are fields of a form.
            if index > 0, piece.name != "json" { body.append(UInt8(ascii: "&")) }
            body.append(try Self.bytes(of: piece))
        }
        return body
    }

    private static func bytes(of piece: (name: String, value: String)) throws(LocalFileError) -> Data {
        if piece.name == "data-urlencode" { return Data(try encoded(piece.value).utf8) }
        guard piece.name != "data-raw", piece.value.hasPrefix("@") else { return Data(piece.value.utf8) }
        let content = try LocalFile.read(String(piece.value.dropFirst()))
        return piece.name == "data" ? content.filter { $0 != 10 && $0 != 13 && $0 != 0 } : content
    }

    /// Encodes `value`, `=value`, `name=value`, `@file` or `name@file` for a form. The name stays as it is.
    private static func encoded(_ text: String) throws(LocalFileError) -> String {
        guard let mark = text.firstIndex(of: "=") ?? text.firstIndex(of: "@") else {
            return formEscaped(Data(text.utf8))
        }
        let rest = String(text[text.index(after: mark)...])
        let value = text[mark] == "@" ? try LocalFile.read(rest) : Data(rest.utf8)
        return (mark == text.startIndex ? "" : text[..<mark] + "=") + formEscaped(value)
    }

    private static func formEscaped(_ bytes: Data) -> String {
        escaped(bytes).replacingOccurrences(of: "%20", with: "+")
    }

    /// Escapes all but the letters, digits and marks that no URL escapes.
    static func escaped(_ bytes: Data) -> String {
        bytes.map { byte in
            let letter = Character(Unicode.Scalar(byte))
            return letter.isASCII && (letter.isLetter || letter.isNumber) || "-._~".utf8.contains(byte)
                ? String(letter) : String(format: "%%%02X", Int(byte))
        }.joined()
    }
}
