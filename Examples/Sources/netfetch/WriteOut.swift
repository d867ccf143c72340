import Foundation
import NetworkStack

/// The text of -w, with variables in curl's notation: `%{http_code}`, `%header{name}`, `%output{file}`.
struct WriteOut {
    /// Where a part of the text goes.
    enum Target: Equatable {
        case standardOutput
        case standardError
        case file(path: String, appends: Bool)
    }

    private enum Piece {
        case text(String)
        case variable(String)
        case header(String)
        case target(Target)
        /// What follows is for failures alone.
        case onError
    }

    private let pieces: [Piece]

    /// Reads the option's value.
    ///
    /// - Throws: A ``LocalFileError`` if it names a file that cannot be read, a ``UsageError`` for a variable of curl's that
    ///   netfetch cannot fill in.
    init(_ text: String) throws {
        let format =
            text.hasPrefix("@") ? String(decoding: try LocalFile.read(String(text.dropFirst())), as: UTF8.self) : text
        pieces = Self.pieces(of: format)
        for case .variable(let name) in pieces {
            if let reason = Self.withoutCounterpart[name] {
                throw UsageError("--write-out cannot fill in %{\(name)}: \(reason)")
            }
        }
    }

    /// The variables of curl that netfetch refuses, with the reason.
    static let withoutCounterpart = [
        "certs": "the library reports public keys, not certificates (--show-pins)",
        "num_certs": "the library reports public keys, not certificates (--show-pins)",
        "ftp_entry_path": "netfetch speaks no FTP",
        "http_connect": "the library does not report a proxy's reply to CONNECT",
        "proxy_ssl_verify_result": "the library does not report it; a proxy that is not trusted fails the fetch",
        "tls_earlydata": "the library sends no early data",
    ]

    private static func pieces(of format: String) -> [Piece] {
        var (pieces, rest) = ([Piece](), format[...])
        /// What is in braces after a word, if that is next.
        func argument(_ word: String) -> String? {
            guard rest.hasPrefix(word + "{"), let end = rest.firstIndex(of: "}") else { return nil }
            let text = rest[rest.index(rest.startIndex, offsetBy: word.count + 1)..<end]
            rest = rest[rest.index(after: end)...]
            return String(text)
        }
        while let letter = rest.popFirst() {
            switch (letter, rest.first) {
            case ("%", "%"):
                pieces.append(.text("%"))
                rest.removeFirst()
            case ("%", _):
                if let name = argument("") {
                    switch name {
                    case "stderr": pieces.append(.target(.standardError))
                    case "stdout": pieces.append(.target(.standardOutput))
                    case "onerror": pieces.append(.onError)
                    default: pieces.append(.variable(name))
                    }
                } else if let name = argument("header") {
                    pieces.append(.header(name))
                } else if let name = argument("output") {
                    let appends = name.hasPrefix(">>")
                    pieces.append(.target(.file(path: appends ? String(name.dropFirst(2)) : name, appends: appends)))
                } else {
                    pieces.append(.text("%"))
                }
            case ("\\", let next?):
                rest.removeFirst()
                pieces.append(.text(["n": "\n", "r": "\r", "t": "\t"][next] ?? "\\\(next)"))
            default: pieces.append(.text(String(letter)))
            }
        }
        return pieces
    }

    /// Fills in the variables.
    ///
    /// - Returns: The parts of the text, in order.
    func parts(of report: FetchReport) -> [(target: Target, text: String)] {
        var parts: [(target: Target, text: String)] = [(.standardOutput, "")]
        func put(_ text: String) { parts[parts.count - 1].text += text }
        for piece in pieces {
            switch piece {
            case .text(let text): put(text)
            case .header(let name): put(report.header(name) ?? "")
            case .target(let target): parts.append((target, ""))
            case .onError: if report.exitCode == 0 { return parts }
            case .variable("header_json"): put(report.headerJSON)
            case .variable("json"): put(report.json.text)
            case .variable(let name):
                if let value = report.value(of: name) {
                    put(value.text)
                } else {
                    Trace.write("netfetch: unknown --write-out variable: '\(name)'\n")
                }
            }
        }
        return parts
    }
}
