import Foundation

/// Reads a command line in curl's grammar and writes it in the parser's: `-sXPUT --ret 2 url` becomes
/// `--silent --request=PUT --retry=2 -- url`. The order of options is kept where it means something.
struct CommandLineReader {
    /// An option as it was given.
    struct Occurrence {
        let name: String
        let value: String?
    }

    private(set) var occurrences: [Occurrence] = []
    private(set) var urls: [String] = []
    private let known = KnownOptions.shared
    /// How many files of -K are being read, one named in the other.
    private var depth = 0

    /// Reads the arguments behind the program's name.
    init(_ arguments: [String]) throws(UsageError) { try read(arguments) }

    /// The same for the parser.
    var arguments: [String] {
        let options = occurrences.flatMap { option -> [String] in
            guard let value = option.value else { return ["--\(option.name)"] }
            // The parser takes no empty value behind an equals sign.
            return value.isEmpty ? ["--\(option.name)", ""] : ["--\(option.name)=\(value)"]
        }
        return options + ["--"] + urls
    }

    private mutating func read(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                urls += rest
                return
            }
            if argument.hasPrefix("-"), argument != "-" {
                try read(option: argument, &rest)
            } else {
                urls.append(argument)
            }
        }
    }

    private mutating func read(option: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        if option.hasPrefix("--") {
            try read(word: String(option.dropFirst(2)), &rest)
        } else {
            try read(letters: option.dropFirst(), &rest)
        }
    }

    private mutating func read(word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let option: KnownOptions.Option
        var value: String?
        if let equals = word.firstIndex(of: "="), let exact = known.exact(word[..<equals]) {
            option = exact
            value = String(word[word.index(after: equals)...])
        } else if let negated = try negated(word) {
            return occurrences.removeAll { $0.name == negated }
        } else {
            option = try known.option(word)
        }
        if option.takesValue {
            guard let value = value ?? rest.popFirst() else { throw UsageError("option --\(word) needs a value") }
            try add(option, value)
        } else {
            guard value == nil else { throw UsageError("option --\(option.name) takes no value") }
            try add(option, nil)
            // What netfetch took before it had curl's --parallel-max.
            if option.name == "parallel", let count = rest.first, Int(count) != nil {
                occurrences.append(Occurrence(name: "parallel-max", value: rest.removeFirst()))
            }
        }
    }

    /// The flag that `--no-name` turns off, or `nil` if the word is no such.
    private func negated(_ word: String) throws(UsageError) -> String? {
        guard word.hasPrefix("no-"), !known.all.contains(where: { $0.name.hasPrefix(word) }) else { return nil }
        let option: KnownOptions.Option
        do { option = try known.option(String(word.dropFirst(3))) } catch {
            throw UsageError("option --\(word) is unknown")
        }
        guard !option.takesValue else { throw UsageError("option --\(word): --\(option.name) is no flag to turn off") }
        return option.name
    }

    private mutating func read(letters: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
        var letters = letters
        while let letter = letters.popFirst() {
            guard let option = known.option(letter) else { throw UsageError("option -\(letter) is unknown") }
            if option.takesValue {
                guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                    throw UsageError("option -\(letter) needs a value")
                }
                return try add(option, value)
            }
            try add(option, nil)
        }
    }

    private mutating func add(_ option: KnownOptions.Option, _ value: String?) throws(UsageError) {
        switch (option.name, value) {
        case ("url", let url?): urls.append(url)
        case ("config", let path?): try read(file: path)
        case ("location", _), ("no-location", _):
            // The last one counts.
            occurrences.removeAll { $0.name == "location" || $0.name == "no-location" }
            occurrences.append(Occurrence(name: option.name, value: nil))
        default: occurrences.append(Occurrence(name: option.name, value: value))
        }
    }

    // MARK: Files of -K

    private mutating func read(file path: String) throws(UsageError) {
        guard depth < 20 else { throw UsageError("option -K: \(path) leads to itself", exitCode: 26) }
        let text: Data
        do { text = try LocalFile.read(path) } catch { throw UsageError("option -K: \(error)", exitCode: 26) }
        depth += 1
        defer { depth -= 1 }
        for line in String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let (name, value) = Self.entry(line) else { continue }
            var rest = (value.map { [$0] } ?? [])[...]
            try read(option: name.hasPrefix("-") ? name : "--" + name, &rest)
            guard rest.isEmpty else { throw UsageError("\(path): \(name) takes no value") }
        }
    }

    /// The option and the value of a line such as `header = "Name: value"`, or `nil` for a comment or an empty line.
    private static func entry(_ line: Substring) -> (name: String, value: String?)? {
        let line = line.drop { $0.isWhitespace }
        guard let first = line.first, first != "#" else { return nil }
        let isDashed = first == "-"
        func separates(_ letter: Character) -> Bool {
            letter.isWhitespace || !isDashed && (letter == "=" || letter == ":")
        }
        let name = line.prefix { !separates($0) }
        let rest = line[name.endIndex...].drop { separates($0) }
        guard let mark = rest.first else { return (String(name), nil) }
        guard mark == "\"" else { return (String(name), String(rest.prefix { !$0.isWhitespace })) }
        var (value, isEscaped) = ("", false)
        for letter in rest.dropFirst() {
            if isEscaped {
                value.append(["t": "\t", "n": "\n", "r": "\r", "v": "\u{B}"][letter] ?? letter)
                isEscaped = false
            } else if letter == "\\" {
                isEscaped = true
            } else if letter == "\"" {
                break
            } else {
                value.append(letter)
            }
        }
        return (String(name), value)
    }
}
